/* The random bytes of the C library: real outside of a worker, a stream from the seed inside of
 * one. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/worker/entropy.h"
#include "tests/t.h"

void arc4random_buf(void *out, size_t n);
uint32_t arc4random(void);

/* 0 if two streams with the same seed are equal and one with another seed is not. */
static int pinned(void)
{
	unsigned char a[100], b[100], c[100];

	dtx_entropy_pin(7);
	arc4random_buf(a, sizeof(a));
	dtx_entropy_pin(7);
	arc4random_buf(b, sizeof(b));
	dtx_entropy_pin(8);
	arc4random_buf(c, sizeof(c));
	return memcmp(a, b, sizeof(a)) != 0 || memcmp(a, c, sizeof(a)) == 0 ||
	       arc4random() == arc4random();
}

void test_entropy_of_a_worker(void)
{
	unsigned char a[64] = { 0 }, b[64] = { 0 };
	int status = -1;
	pid_t pid;

	arc4random_buf(a, sizeof(a));
	arc4random_buf(b, sizeof(b));
	T_CHECK(memcmp(a, b, sizeof(a)) != 0);
	pid = fork();
	if (pid == 0)
		_exit(pinned());
	T_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	T_INT(status, 0);
}
