/* The memory in which a reader process hands its results to main. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "sandbox/reader/reader_process.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

static int sealable(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	/* older kernels do not know MFD_NOEXEC_SEAL */
	return fd >= 0 ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

enum dtx_code dtx_reader_memory(uint64_t len, int *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int fd = sealable("dtx-reader");

	if (fd < 0 || ftruncate(fd, (off_t)len) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		DTX_FAIL(err, DTX_E_NO_MEMORY, "memory for the reader: %s", strerror(errno));
	*out = fd;
	fd = -1;
out:
	dtx_file_close(&fd);
	return rc;
}

void dtx_reader_drop_memory(struct dtx_isolate *p)
{
	if (p->memory >= 0)
		dtx_mem_discharge((size_t)p->len);
	dtx_file_close(&p->memory);
	p->len = 0;
}

void dtx_reader_drop_slot(struct dtx_isolate *p)
{
	if (!p->slot)
		return;
	munmap(p->slot, DTX_WIRE_SLOT);
	dtx_mem_discharge(DTX_WIRE_SLOT);
}

static enum dtx_code send_memory(struct dtx_isolate *p, const struct dtx_wire_memory *m, int *fd,
                                 struct dtx_err *err)
{
	p->len = m->len;
	return dtx_wire_send(&p->wire, DTX_WIRE_GIVE, m, sizeof(*m), fd, fd ? 1 : 0)
	               ? DTX_OK
	               : dtx_reader_died(p, err);
}

/* Makes the slot, which both sides map. The process may write to it at any time, so main only
 * ever uses copies of what is in it. */
static enum dtx_code make_slot(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *ptr;
	int fd = -1;

	DTX_TRY(dtx_reader_memory(DTX_WIRE_SLOT, &fd, err));
	if (!dtx_mem_charge(DTX_WIRE_SLOT))
		DTX_FAIL_MEM(err);
	ptr = mmap(NULL, DTX_WIRE_SLOT, PROT_READ, MAP_SHARED, fd, 0);
	if (ptr == MAP_FAILED) {
		dtx_mem_discharge(DTX_WIRE_SLOT);
		DTX_FAIL(err, DTX_E_NO_MEMORY, "mapping for frames: %s", strerror(errno));
	}
	p->slot = ptr;
	DTX_TRY(send_memory(p, m, &fd, err));
out:
	dtx_file_close(&fd);
	return rc;
}

static enum dtx_code make_own(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_charge((size_t)m->len))
		DTX_FAIL_MEM(err);
	rc = dtx_reader_memory(m->len, &p->memory, err);
	if (rc != DTX_OK) {
		dtx_mem_discharge((size_t)m->len);
		goto out;
	}
	DTX_TRY(send_memory(p, m, &p->memory, err));
out:
	return rc;
}

enum dtx_code dtx_reader_give(struct dtx_isolate *p, const struct dtx_wire_memory *m,
                              struct dtx_err *err)
{
	if (!m->len || m->len > p->limits.memory || p->len)
		return dtx_reader_broke(p, "it wants memory beyond its limit", err);
	if (m->len > DTX_WIRE_SLOT)
		return make_own(p, m, err);
	return p->slot ? send_memory(p, m, NULL, err) : make_slot(p, m, err);
}

/* --- frames --- */

struct mapping {
	void *ptr;
	uint64_t len;
};

static void mapping_free(void *arg)
{
	struct mapping *m = arg;

	munmap(m->ptr, (size_t)m->len);
	dtx_mem_discharge((size_t)m->len);
	dtx_mem_free(m);
}

/* Seals memory that the process has filled. The kernel refuses the seal as long as the process
 * still has it mapped for writing. */
static enum dtx_code take_own(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct mapping *m = NULL;
	void *ptr;

	if (fcntl(p->memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL))
		return dtx_reader_broke(p, "it keeps what it has sent", err);
	m = dtx_mem_alloc(1, sizeof(*m));
	if (!m)
		DTX_FAIL_MEM(err);
	ptr = mmap(NULL, (size_t)p->len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, p->memory, 0);
	if (ptr == MAP_FAILED)
		DTX_FAIL(err, DTX_E_NO_MEMORY, "mapping of a frame: %s", strerror(errno));
	*m = (struct mapping){ ptr, p->len };
	dtx_file_close(&p->memory); /* the mapping counts against the budget from here on */
	out->owner = dtx_owner_new(mapping_free, m);
	if (!out->owner) {
		mapping_free(m);
		m = NULL;
		DTX_FAIL_MEM(err);
	}
	out->ptr = ptr;
	m = NULL;
out:
	dtx_mem_free(m);
	return rc;
}

static enum dtx_code take_copy(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *copy = dtx_mem_alloc64((size_t)p->len, 1);

	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(copy, p->slot, (size_t)p->len);
	out->owner = dtx_owner_take(copy);
	if (!out->owner)
		DTX_FAIL_MEM(err);
	out->ptr = copy;
out:
	return rc;
}

enum dtx_code dtx_reader_take(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err)
{
	enum dtx_code rc;

	out->len = p->len;
	rc = p->memory >= 0 ? take_own(p, out, err) : take_copy(p, out, err);
	dtx_reader_drop_memory(p);
	return rc;
}
