/* Extraction of the module from an answer; approval. */
#include "core/fallback/prompt/extract.h"

#include "core/fallback/approval.h"
#include "tests/t.h"

#define DEF "def transform(tables, params):\n    return tables['main']\n"

void test_extract_cases(void)
{
	static const struct {
		const char *answer, *module;
		enum dtx_code code;
	} row[] = {
		{ "```python\n" DEF "```\n", DEF, DTX_OK },
		{ "Here it is:\n\n```python\n" DEF "```\nDone.", DEF, DTX_OK },
		{ "```py\n" DEF "```", DEF, DTX_OK },
		{ "```Python3 title=x\n" DEF "```", DEF, DTX_OK },
		{ "```\n" DEF "```", DEF, DTX_OK },
		{ "~~~python\n" DEF "~~~\n", DEF, DTX_OK },
		{ "~~~~\n```\n" DEF "~~~~\n", "```\n" DEF, DTX_OK },
		{ "````python\n" DEF "```\n# in\n````\n", DEF "```\n# in\n", DTX_OK },
		{ "   ```python\n   def transform(t, p):\n       pass\n   ```\n",
		  "def transform(t, p):\n    pass\n", DTX_OK },
		{ "```python\r\ndef transform(t, p):\r\n    pass\r\n```\r\n",
		  "def transform(t, p):\n    pass\n", DTX_OK },
		/* the last block that defines transform is taken; blocks are never joined */
		{ "```python\n" DEF "```\n```python\nimport math\n```\n", DEF, DTX_OK },
		{ "```python\n# 1\n" DEF "```\n```python\n# 2\n" DEF "```\n", "# 2\n" DEF, DTX_OK },
		{ "```sql\nselect 1\n```\n```python\n" DEF "```\n", DEF, DTX_OK },
		{ "```python\n" DEF "```\n```json\ndef transform(a, b): {}\n```\n", DEF, DTX_OK },
		/* thoughts of a model */
		{ "<think>```python\ndef transform(x): wrong\n```</think>\n```python\n" DEF "```\n",
		  DEF, DTX_OK },
		{ "<think>never ends ```python\n" DEF "```\n", "", DTX_E_SNIPPET_NO_CODE },
		/* no fence */
		{ "import pandas as pd\n" DEF "\n\n\n", "import pandas as pd\n" DEF, DTX_OK },
		{ "def transform(tables, params): pass", "def transform(tables, params): pass\n",
		  DTX_OK },
		{ "I would use def transform(tables) here.\n", "", DTX_E_SNIPPET_NO_CODE },
		{ "", "", DTX_E_SNIPPET_NO_CODE },
		{ "Sorry, I cannot.\n", "", DTX_E_SNIPPET_NO_CODE },
		{ "```python\nprint(1)\n```\n", "", DTX_E_SNIPPET_NO_CODE },
		{ "```python\n    def transform(t, p): pass\n```\n", "", DTX_E_SNIPPET_NO_CODE },
		{ "```python\ndef transformer(t, p): pass\n```\n", "", DTX_E_SNIPPET_NO_CODE },
		/* cut answers */
		{ "```python\n" DEF, "", DTX_E_SNIPPET_TRUNCATED },
		{ "```python\n" DEF "```\nand\n```python\nimport", "", DTX_E_SNIPPET_TRUNCATED },
		{ "````python\n" DEF "```\n", "", DTX_E_SNIPPET_TRUNCATED },
		/* a fence that is indented by 4 is text; inline code is not a fence */
		{ "    ```python\n" DEF "    ```\n", "    ```python\n" DEF "    ```\n", DTX_OK },
		{ "```python is what `x` needs```\n" DEF, "```python is what `x` needs```\n" DEF,
		  DTX_OK },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_buf got = DTX_BUF_INIT(1 << 20);
		struct dtx_err err = DTX_ERR_INIT;
		enum dtx_code rc = dtx_extract(dtx_str_of(row[i].answer), &got, &err);

		if (rc != row[i].code || strcmp(dtx_buf_text(&got), row[i].module))
			printf("# case %zu: %s\n", i, row[i].answer);
		T_CODE(rc, row[i].code, &err);
		T_STR(dtx_buf_text(&got), row[i].module);
		T_CHECK(rc == DTX_OK || err.hint[0]);
		dtx_buf_clear(&got);
	}
}

void test_extract_sizes(void)
{
	struct dtx_buf answer = DTX_BUF_INIT(1 << 20), got = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	dtx_buf_add(&answer, DEF);
	while (answer.len <= DTX_EXTRACT_MAX)
		dtx_buf_add(&answer, "# filler filler filler\n");
	T_CODE(dtx_extract((struct dtx_str){ answer.ptr, answer.len }, &got, &err),
	       DTX_E_SNIPPET_NO_CODE, &err);
	while (answer.len <= DTX_ANSWER_MAX)
		dtx_buf_add(&answer, "# filler filler filler\n");
	T_CODE(dtx_extract((struct dtx_str){ answer.ptr, answer.len }, &got, &err),
	       DTX_E_SNIPPET_NO_CODE, &err);
	dtx_buf_clear(&answer);
	dtx_buf_clear(&got);
}

static enum dtx_code extract_once(void)
{
	struct dtx_buf got = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = dtx_extract(dtx_str_of("x\n```python\n" DEF "```\n"), &got, NULL);

	dtx_buf_clear(&got);
	return rc;
}

void test_extract_alloc_fails(void)
{
	T_EVERY_ALLOC_FAILS(extract_once());
}

/* The person at the terminal; arg is the answer. */
static enum dtx_code approval_person(void *arg, const struct dtx_approval_view *view, bool *yes,
                                     struct dtx_err *err)
{
	(void)err;
	T_STR(view->id, "c7d2a1f000000000");
	*yes = *(const bool *)arg;
	return DTX_OK;
}

void test_gate(void)
{
	static const struct {
		const char *policy;
		bool supplied;
		int person;     /* -1: no terminal; else the answer */
		const char *by; /* NULL: it needs approval */
	} row[] = {
		{ NULL, true, -1, "supplied" },
		{ NULL, false, -1, NULL },
		{ "auto", true, -1, "supplied" },
		{ "auto", false, -1, "policy:auto" },
		{ "auto", false, 0, "policy:auto" },
		{ "ask", true, 0, "supplied" },
		{ "ask", false, -1, NULL },
		{ "ask", false, 1, "etl" },
		{ "ask", false, 0, NULL },
		{ NULL, false, 1, "etl" },
		{ NULL, false, 0, NULL },
		{ "require", true, -1, NULL },
		{ "require", false, 1, NULL },
		{ "require", true, 1, NULL },
	};
	struct dtx_approval_view view = { .id = "c7d2a1f000000000" };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_approval gate = { .user = "etl" };
	const char *by;
	bool answer;
	size_t i;

	gate.arg = &answer;
	for (i = 0; i < DTX_COUNT(row); i++) {
		T_OK(dtx_approve_parse(row[i].policy, &gate.policy, &err), &err);
		gate.ask = row[i].person < 0 ? NULL : approval_person;
		answer = row[i].person == 1;
		T_CODE(dtx_approval(&gate, row[i].supplied, &view, &by, &err),
		       row[i].by ? DTX_OK : DTX_E_NEEDS_APPROVAL, &err);
		T_STR(by ? by : "-", row[i].by ? row[i].by : "-");
	}
	T_CODE(dtx_approve_parse("maybe", &gate.policy, &err), DTX_E_USAGE, &err);
}
