/* The limit for counting rows: newlines outside quotes in a mapped file, two threads, no checks.
 * Usage: bare_count FILE */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { THREADS = 2 };

struct part {
	const char *from, *to;
	uint64_t newlines, quotes;
};

/* The compiler makes vectors of it. */
static void *count(void *arg)
{
	struct part *p = arg;
	const char *at = p->from;

	while (at < p->to) {
		size_t n = (size_t)(p->to - at) < 255 * 64 ? (size_t)(p->to - at) : 255 * 64, i;
		uint32_t lines = 0, quotes = 0;

		for (i = 0; i < n; i++) {
			lines += at[i] == '\n';
			quotes += at[i] == '"';
		}
		p->newlines += lines;
		p->quotes += quotes;
		at += n;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1, i;
	pthread_t thread[THREADS];
	struct part part[THREADS] = { 0 };
	uint64_t lines = 0, quotes = 0;
	struct stat st;
	const char *map;

	if (fd < 0 || fstat(fd, &st))
		return 1;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return 1;
	for (i = 0; i < THREADS; i++) {
		part[i].from = map + st.st_size / THREADS * i;
		part[i].to =
			i + 1 < THREADS ? map + st.st_size / THREADS * (i + 1) : map + st.st_size;
		if (pthread_create(&thread[i], NULL, count, &part[i]))
			return 1;
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		lines += part[i].newlines;
		quotes += part[i].quotes;
	}
	printf("%llu\n%llu quotes\n", (unsigned long long)lines - 1, (unsigned long long)quotes);
	return 0;
}
