/* Sorts findings in the order of the plan as written, because people correct a plan from top to
 * bottom. */
#include <stdlib.h>

#include "core/plan/plan_internal.h"

/* The index of a pointer's token among the members of *at, and moves *at to that member. A missing
 * member comes last. */
static size_t member_index(const json_t **at, const char *token, size_t len)
{
	struct dtx_str want = { token, len };
	char name[sizeof(((struct dtx_err *)0)->at)];
	const char *key;
	json_t *value;
	size_t i = 0;

	if (json_is_array(*at)) {
		i = strtoul(token, NULL, 10);
		*at = json_array_get(*at, i);
		return i;
	}
	json_object_foreach((json_t *)(uintptr_t)*at, key, value)
	{
		name[0] = '\0';
		dtx_json_pointer_add(name, sizeof(name), key);
		if (dtx_str_is(want, name + 1)) {
			*at = value;
			return i;
		}
		i++;
	}
	*at = NULL;
	return SIZE_MAX;
}

/* A plan may be just an array of steps. Then its pointers do not begin with "/steps". */
static const json_t *root_of(const struct dtx_plan *plan, const char *pointer)
{
	bool bare = pointer[0] == '/' && pointer[1] >= '0' && pointer[1] <= '9';

	return bare ? json_object_get(plan->json, "steps") : plan->json;
}

static int compare_pointers(const struct dtx_plan *plan, const char *a, const char *b)
{
	const json_t *in_a = root_of(plan, a), *in_b = root_of(plan, b);

	while (*a == '/' && *b == '/') {
		size_t len_a = strcspn(++a, "/"), len_b = strcspn(++b, "/");
		size_t i = member_index(&in_a, a, len_a), k = member_index(&in_b, b, len_b);

		if (i != k)
			return i < k ? -1 : 1;
		a += len_a;
		b += len_b;
	}
	return (*a != '\0') - (*b != '\0');
}

static int compare(const struct dtx_plan *plan, const struct dtx_err *a, const struct dtx_err *b)
{
	int order = compare_pointers(plan, a->at, b->at);

	return order ? order : (a->span[0] > b->span[0]) - (a->span[0] < b->span[0]);
}

/* Insertion sort, which keeps the order of equal findings. The list is short (DTX_ERRLIST_MAX). */
static void sort(const struct dtx_plan *plan, struct dtx_errlist *list)
{
	for (size_t i = 1; i < list->n; i++) {
		struct dtx_err moved = list->item[i];
		size_t k = i;

		for (; k > 0 && compare(plan, &list->item[k - 1], &moved) > 0; k--)
			list->item[k] = list->item[k - 1];
		list->item[k] = moved;
	}
}

static bool repeats(const struct dtx_err *first, const struct dtx_err *next)
{
	if (strcmp(first->at, next->at) != 0)
		return false;
	return first->code == DTX_E_BAD_PARAM_TYPE ||
	       (first->code == next->code && first->span[0] == next->span[0] &&
	        strcmp(first->msg, next->msg) == 0);
}

void dtx_part_order(const struct dtx_plan *plan, struct dtx_errlist *findings)
{
	size_t n = 0;

	sort(plan, findings);
	for (size_t i = 0; i < findings->n; i++) {
		if (n && repeats(&findings->item[n - 1], &findings->item[i]))
			dtx_err_clear(&findings->item[i]);
		else
			findings->item[n++] = findings->item[i];
	}
	findings->n = n;
}
