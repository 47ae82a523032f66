/* Checks that a workbook packed by libxlsxwriter is complete.
 *
 * The library does not check whether its writes to temporary files succeed. On a full disk, or
 * at a file size limit, it packs parts that are cut off and reports success. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/mem.h"
#include "core/io/sheet/xlsx/xlsx.h"

enum { WHOLE_WINDOW = 256 << 10, WHOLE_ENDS = 256 };

/* Whether a part that begins with "<?xml ...?>\n<worksheet ..." ends with "</worksheet>". */
static bool ends_as_begun(struct dtx_str head, struct dtx_str tail)
{
	const char *at = memmem(head.ptr, head.len, "?>", 2);
	size_t left, n = 0;

	while (tail.len && strchr(" \r\n\t", tail.ptr[tail.len - 1]))
		tail.len--;
	at = at ? memchr(at, '<', head.len - (size_t)(at - head.ptr)) : NULL;
	if (!at || !tail.len || tail.ptr[tail.len - 1] != '>')
		return false;
	left = head.len - (size_t)(++at - head.ptr);
	while (n < left && !strchr(" >/\r\n\t", at[n]))
		n++;
	return n && n < left && tail.len >= n + 3 && !memcmp(tail.ptr + tail.len - n - 1, at, n) &&
	       !memcmp(tail.ptr + tail.len - n - 3, "</", 2);
}

static enum dtx_code part_whole(struct dtx_zip *zip, const struct dtx_zip_entry *e, char *window,
                                bool *whole, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_unzip *in = NULL;
	char head[WHOLE_ENDS], tail[WHOLE_ENDS];
	size_t nhead = 0, ntail = 0, got;

	DTX_TRY(dtx_unzip_open(zip, e, &in, err));
	for (;;) {
		size_t keep, take;

		DTX_TRY(dtx_unzip_read(in, window, WHOLE_WINDOW, &got, err));
		if (!got)
			break;
		take = DTX_MIN(got, sizeof(head) - nhead);
		memcpy(head + nhead, window, take);
		nhead += take;
		take = DTX_MIN(got, sizeof(tail));
		keep = DTX_MIN(ntail, sizeof(tail) - take);
		memmove(tail, tail + ntail - keep, keep);
		memcpy(tail + keep, window + got - take, take);
		ntail = keep + take;
	}
	*whole = ends_as_begun((struct dtx_str){ head, nhead }, (struct dtx_str){ tail, ntail });
out:
	dtx_unzip_free(in);
	return rc;
}

enum dtx_code dtx_xlsx_whole(int fd, bool *whole, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zip zip = DTX_ZIP_INIT;
	struct dtx_archive_limits limits = dtx_archive_limits_default;
	char *window = dtx_mem_alloc(WHOLE_WINDOW, 1);
	void *bytes = MAP_FAILED;
	struct stat st;

	*whole = false;
	if (!window)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < dtx_nunpack_rows; i++)
		memcpy((char *)&limits + dtx_archive_limits_rows[i].offset,
		       &dtx_archive_limits_rows[i].most, sizeof(uint64_t));
	if (!fstat(fd, &st) && st.st_size)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		goto out;
	rc = dtx_zip_open(&zip, "the packed workbook", bytes, (size_t)st.st_size, &limits, err);
	if (rc == DTX_E_CORRUPT_FILE) {
		/* corrupt means not complete, just like a part that is cut off */
		dtx_err_clear(err);
		rc = DTX_OK;
		goto out;
	}
	DTX_TRY(rc);
	*whole = zip.n > 0;
	for (uint32_t i = 0; *whole && i < zip.n; i++)
		DTX_TRY(part_whole(&zip, &zip.entry[i], window, whole, err));
out:
	dtx_zip_clear(&zip);
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)st.st_size);
	dtx_mem_free(window);
	return rc;
}
