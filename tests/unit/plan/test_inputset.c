/* Inputs of a run. */
#include "core/plan/exec/inputset.h"

#include "tests/t.h"

/* A type that is wider than it seemed requires reading again, which a stream cannot do. */
void test_inputset_stream_that_passed(void)
{
	struct dtx_err err = DTX_ERR_INIT;

	dtx_err_set(&err, DTX_E_RETYPE, __FILE__, __LINE__, "again");
	snprintf(err.column, sizeof(err.column), "a");
	snprintf(err.input, sizeof(err.input), "main");
	T_CODE(dtx_inputset_passed(DTX_OK, &err), DTX_OK, &err);
	T_CODE(dtx_inputset_passed(DTX_E_RETYPE, &err), DTX_E_PARAM_CONFLICT, &err);
	T_STR(err.msg, "column 'a' of input 'main' has a different type than its first rows show, "
	               "and a stream cannot be read again");
	T_STR(err.hint, "declare its type in \"types\"");
	dtx_err_clear(&err);
}
