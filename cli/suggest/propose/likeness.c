#include "cli/suggest/propose/likeness.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash/hash.h"
#include "core/base/text/utf8.h"

/* --- values --- */

static double like_numbers(const struct dtx_feature *a, const struct dtx_feature *b)
{
	double ratio = fabs(log10((a->median + 1e-9) / (b->median + 1e-9))) / 0.7;
	double like =
		0.55 + 0.25 * (1 - DTX_MIN(ratio, 2.0)) + 0.2 * (1 - 2 * fabs(a->whole - b->whole));

	if (a->words.n <= 12 && b->words.n <= 12 &&
	    dtx_hashset_overlap(&a->words, &b->words) >= 0.6 && a->filled > 2 * a->words.n)
		like = DTX_MAX(like, 0.9);
	return DTX_MAX(like, 0.1);
}

double dtx_like_values(const struct dtx_feature *a, const struct dtx_feature *b)
{
	double like;

	if (!a->filled || !b->filled)
		return 0.6; /* nothing is known of an empty column */
	if (dtx_kind_is_number(a->kind) && dtx_kind_is_number(b->kind))
		return a->kind == b->kind ? like_numbers(a, b) : 0.3;
	if (a->kind >= DTX_LOOKS_CODE && b->kind >= DTX_LOOKS_CODE) {
		like = 0.35 + 0.75 * dtx_hashset_overlap(&a->words, &b->words) +
		       0.3 * dtx_hashset_overlap(&a->shapes, &b->shapes);
		if (a->kind != b->kind)
			like -= 0.1;
		if (DTX_MAX(a->length, b->length) > 3 * DTX_MIN(a->length, b->length))
			like -= 0.2;
		return DTX_MIN(like, 1.0);
	}
	return a->kind == b->kind ? 0.9 : 0.1;
}

/* --- names --- */

enum series {
	SERIES_NONE,
	SERIES_YEAR,
	SERIES_MONTH,
	SERIES_DAY,
	SERIES_QUARTER,
	SERIES_DATE,
	SERIES_TIME,
	SERIES_RANGE,
	SERIES_ORDINAL,
	SERIES_INT,
	SERIES_KINDS
};
static const struct {
	const char *what, *column;
} series_words[SERIES_KINDS] = {
	{ NULL, "name" },          { "years", "year" },
	{ "months", "month" },     { "weekdays", "day" },
	{ "quarters", "quarter" }, { "dates", "date" },
	{ "times", "time" },       { "ranges", "range" },
	{ "ordinals", "number" },  { "whole numbers", "number" },
};

/* Names of one kind that no series has. */
static const char *const vocabularies[] = {
	"male,female,men,women,boys,girls,man,woman,m,f,other,unknown,both,total",
	"strongly agree,agree,neutral,disagree,strongly disagree,neither,undecided,"
	"neither agree nor disagree,somewhat agree,somewhat disagree,no opinion,don't know",
	"very good,good,fair,poor,very poor,excellent,bad,average,satisfied,very satisfied,"
	"dissatisfied,very dissatisfied,unsatisfied",
	"never,rarely,seldom,sometimes,often,usually,always,frequently,hardly ever",
	"north,south,east,west,northeast,northwest,southeast,southwest,central,centre,midwest,"
	"overseas,north america,south america,latin america,europe,asia,africa,oceania,australia,"
	"emea,apac,latam,middle east,americas,asia pacific,antarctica,world",
	"spring,summer,autumn,fall,winter",
	"low,medium,high,very low,very high,none,small,large,extra large,minor,major,critical",
	"home,away",
	"before,after,pre,post,baseline,control,treatment",
	"approve,disapprove,favor,favour,oppose,support,for,against,yes,no,pro,con",
	"afghanistan,albania,algeria,angola,argentina,armenia,australia,austria,azerbaijan,"
	"bangladesh,"
	"belarus,belgium,benin,bolivia,botswana,brazil,bulgaria,cambodia,cameroon,canada,chad,"
	"chile,"
	"china,colombia,costa rica,croatia,cuba,cyprus,czech "
	"republic,czechia,denmark,ecuador,egypt,"
	"england,estonia,ethiopia,finland,france,georgia,germany,ghana,great "
	"britain,greece,guatemala,"
	"hong kong,hungary,iceland,india,indonesia,iran,iraq,ireland,israel,italy,japan,jordan,"
	"kazakhstan,kenya,korea,kuwait,latvia,lebanon,lithuania,luxembourg,malaysia,mali,malta,"
	"mexico,"
	"mongolia,morocco,mozambique,namibia,nepal,netherlands,new zealand,nigeria,northern "
	"ireland,"
	"norway,pakistan,panama,paraguay,peru,philippines,poland,portugal,qatar,romania,russia,"
	"rwanda,"
	"saudi arabia,scotland,senegal,serbia,singapore,slovakia,slovenia,south africa,south korea,"
	"spain,sri "
	"lanka,sudan,sweden,switzerland,syria,taiwan,tanzania,thailand,tunisia,turkey,uganda,"
	"uk,ukraine,united arab emirates,united kingdom,united states,uruguay,us,usa,uzbekistan,"
	"venezuela,vietnam,wales,yemen,zambia,zimbabwe,eu,euro area,european "
	"union,world,oecd,total",
	"alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,georgia,"
	"hawaii,idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,"
	"michigan,minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,"
	"new mexico,new york,north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,rhode "
	"island,"
	"south carolina,south dakota,tennessee,texas,utah,vermont,virginia,washington,west "
	"virginia,"
	"wisconsin,wyoming,united states",
	"budget,actual,planned,forecast,target,budgeted,expected,plan",
};

static bool all_digits(struct dtx_str t)
{
	size_t i;

	for (i = 0; i < t.len; i++) {
		if (!isdigit((unsigned char)t.ptr[i]))
			return false;
	}
	return t.len > 0;
}

/* Whether it is two numbers as "18-24", "5 to 9" or "85_99", or one with a mark or a word: "<18",
 * "75+", "65 and over", ">5yr". */
static bool is_range(struct dtx_str t)
{
	static const char words[] = "to,and,or,k,m,up,over,under,above,below,older,younger,more,"
				    "less,than,plus,year,years,yr,yrs,month,months,mo,week,weeks,"
				    "day,days,hour,hours,h,min,mins,s,kg,g,cm,km,mm,mi,usd,eur";
	static const char bounds[] = "to,up,over,under,above,below,older,younger,more,less,plus";
	size_t i, from, groups = 0, marks = 0;

	if (t.len > 1 && t.ptr[0] == '-' && isdigit((unsigned char)t.ptr[1]))
		return false; /* a negative number */
	for (i = 0; i < t.len;) {
		unsigned char c = (unsigned char)t.ptr[i];
		char word[10];

		for (from = i; i < t.len && isalpha((unsigned char)t.ptr[i]); i++) {
			if (i - from < sizeof(word) - 1)
				word[i - from] = (char)(t.ptr[i] | 32);
		}
		if (i > from) {
			word[DTX_MIN(i - from, sizeof(word) - 1)] = '\0';
			if (!dtx_str_in_list(words, word))
				return false;
			marks += dtx_str_in_list(bounds, word);
			continue;
		}
		groups += isdigit(c) && (!i || !isdigit((unsigned char)t.ptr[i - 1]));
		marks += !isdigit(c) && (strchr("-+<>~", c) || c >= 0x80 || (c == '_' && i > 1));
		if (!isdigit(c) && c < 0x80 && !strchr("-+<>~_ .,$%=", c))
			return false;
		i++;
	}
	return groups && groups <= 3 && marks;
}

static enum series series_of(struct dtx_str text)
{
	struct dtx_str t = dtx_utf8_trim(text);
	char copy[48];
	double n;

	if (!t.len || t.len >= sizeof(copy))
		return SERIES_NONE;
	dtx_str_copy(copy, sizeof(copy), t);
	if (all_digits(t)) {
		n = strtod(copy, NULL);
		return t.len == 4 && n >= 1700 && n <= 2100 ? SERIES_YEAR : SERIES_INT;
	}
	if (t.len == 2 && (t.ptr[0] | 32) == 'q' && t.ptr[1] >= '1' && t.ptr[1] <= '4')
		return SERIES_QUARTER;
	if (t.len == 5 && all_digits((struct dtx_str){ t.ptr, 4 }) &&
	    strchr("ABFPEabfpe*", t.ptr[4]))
		return SERIES_YEAR;
	/* fiscal and academic years: "2010/11", "2010-2011" */
	if ((t.len == 7 || t.len == 9) && all_digits((struct dtx_str){ t.ptr, 4 }) &&
	    strchr("/-", t.ptr[4]) && all_digits((struct dtx_str){ t.ptr + 5, t.len - 5 }) &&
	    (t.ptr[0] == '1' || t.ptr[0] == '2'))
		return t.len == 7 && t.ptr[5] <= '1' && t.ptr[4] == '-' ? SERIES_DATE : SERIES_YEAR;
	if (t.len == 6 && t.ptr[4] == '-' && (t.ptr[0] == '1' || t.ptr[0] == '2') &&
	    all_digits((struct dtx_str){ t.ptr, 4 }) && isdigit((unsigned char)t.ptr[5]))
		return SERIES_DATE;
	switch (dtx_cell_kind(copy, &n)) {
	case DTX_LOOKS_MONTH: return dtx_cell_weekday(t) ? SERIES_DAY : SERIES_MONTH;
	case DTX_LOOKS_DATE: return SERIES_DATE;
	case DTX_LOOKS_TIME: return SERIES_TIME;
	default: break;
	}
	/* "Mar-15", "Q1 2020", "2020 Q1", "Jan 2020" */
	if (isdigit((unsigned char)copy[t.len - 1]) || isdigit((unsigned char)copy[0])) {
		char *cut = strpbrk(copy, " -/'_.");

		if (cut && cut != copy && cut[1]) {
			struct dtx_str tail = dtx_str_of(cut + 1 + strspn(cut + 1, " -/'_."));
			bool year;

			*cut = '\0';
			year = all_digits(tail) && (tail.len == 2 || tail.len == 4);
			if (dtx_cell_kind(copy, &n) == DTX_LOOKS_MONTH && year)
				return SERIES_DATE;
			if (all_digits(dtx_str_of(copy)) && strlen(copy) >= 2 &&
			    dtx_cell_kind(cut + 1, &n) == DTX_LOOKS_MONTH)
				return SERIES_DATE;
			*cut = ' ';
		}
	}
	if (isdigit((unsigned char)copy[0]) && t.len <= 5 &&
	    (dtx_str_ends(t, DTX_STR("st")) || dtx_str_ends(t, DTX_STR("nd")) ||
	     dtx_str_ends(t, DTX_STR("rd")) || dtx_str_ends(t, DTX_STR("th"))))
		return SERIES_ORDINAL;
	if (t.len == 1 && isalpha((unsigned char)copy[0]))
		return SERIES_ORDINAL;
	return is_range(t) ? SERIES_RANGE : SERIES_NONE;
}

/* The kinds of a name's parts: years, months, weekdays, numbers, and a hash of the other words.
 * *counts: a part is a year, month or weekday. */
static uint64_t name_parts(struct dtx_str t, bool *counts)
{
	char kinds[64];
	size_t i = 0, n = 0, from;

	*counts = false;
	while (i < t.len && n + 9 < sizeof(kinds)) {
		bool digit = isdigit((unsigned char)t.ptr[i]);
		struct dtx_str part;
		uint64_t hash;

		for (from = i; i < t.len && (digit ? isdigit((unsigned char)t.ptr[i])
		                                   : isalpha((unsigned char)t.ptr[i]));
		     i++)
			;
		part = (struct dtx_str){ t.ptr + from, i - from };
		if (!part.len) {
			i++; /* marks between the parts may differ */
		} else if (digit) {
			kinds[n++] =
				part.len == 4 && (*part.ptr == '1' || *part.ptr == '2') ? 'y' : '9';
			*counts |= kinds[n - 1] == 'y';
		} else if (dtx_cell_month(part) || dtx_cell_weekday(part)) {
			kinds[n++] = dtx_cell_month(part) ? 'm' : 'w';
			*counts = true;
		} else {
			hash = dtx_cell_hash(part);
			memcpy(kinds + n, &hash, sizeof(hash));
			n += sizeof(hash);
		}
	}
	return dtx_hash64(kinds, n, 0);
}

/* Whether all names have parts of the same kinds, among them a time, such as "Mon 8:00", "Tue
 * 9:00". The same in "2024 A" and "2024 B" is no time. */
static bool are_times(const char *const *name, size_t n)
{
	uint64_t first = 0;
	bool counts;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t parts = name_parts(dtx_str_of(name[i]), &counts);

		first = i ? first : parts;
		if (!counts || parts != first)
			return false;
	}
	return true;
}

static bool is_border(struct dtx_str t, size_t i)
{
	unsigned char a = (unsigned char)t.ptr[i - 1], b = (unsigned char)t.ptr[i];

	return !isalnum(a) || (isdigit(a) != 0) != (isdigit(b) != 0) || (islower(a) && isupper(b));
}

/* The number of bytes with which all names begin, cut to a border of words. */
static size_t common_start(const char *const *name, size_t n)
{
	size_t len = strlen(name[0]), i;

	for (i = 1; i < n; i++) {
		size_t k = 0;

		while (k < len && name[0][k] == name[i][k])
			k++;
		len = k;
	}
	for (; len; len--) {
		for (i = 0; i < n && name[i][len] && is_border(dtx_str_of(name[i]), len); i++)
			;
		if (i == n)
			break;
	}
	return len;
}

static size_t common_end(const char *const *name, size_t n, size_t start)
{
	size_t len = strlen(name[0]) - start, i;

	for (i = 1; i < n; i++) {
		size_t k = 0, m = strlen(name[i]) - start, first = strlen(name[0]);

		while (k < len && k < m &&
		       name[0][first - 1 - k] == name[i][strlen(name[i]) - 1 - k])
			k++;
		len = k;
	}
	for (; len; len--) {
		for (i = 0; i < n; i++) {
			struct dtx_str t = dtx_str_of(name[i]);

			if (t.len - len <= start || !is_border(t, t.len - len))
				break;
		}
		if (i == n)
			break;
	}
	return len;
}

size_t dtx_like_end(const char *const *name, size_t n)
{
	return n > 1 ? common_end(name, n, common_start(name, n)) : 0;
}

static bool in_vocabulary(const char *words, const char *name)
{
	struct dtx_buf low = DTX_BUF_INIT(256);
	bool yes;

	dtx_utf8_lower(&low, dtx_utf8_trim(dtx_str_of(name)));
	yes = dtx_str_in_list(words, dtx_buf_text(&low));
	dtx_buf_clear(&low);
	return yes;
}

bool dtx_like_leftover(const char *name)
{
	static const char words[] =
		"other,others,unknown,refused,missing,not stated,not known,don't know,"
		"dont know,dk,don't know/refused,dk/refused,no answer,no response,not "
		"applicable,n/a,none,all others,unspecified,no opinion";

	return in_vocabulary(words, name);
}

bool dtx_like_attribute(const char *text)
{
	static const char words[] =
		"name,id,date,type,year,age,price,avg,sd,means,stddev,variance,range,quartile,sum,"
		"size,"
		"weight,height,length,width,color,colour,"
		"address,city,country,state,region,phone,email,status,description,category,title,"
		"model,brand,manufacturer,total,average,mean,median,min,max,count,number,units,"
		"amount,cost,revenue,profit,sales,population,area,income,rate,ratio,capacity,speed,"
		"power,engine,founded,location,website,owner,author,publisher,pages,language,genre,"
		"director,gender,sex,team,division,position,department,salary,score,value,quantity,"
		"returns,births,deaths,expenses,assets,liabilities,equity,tax,margin,code,volume,"
		"density,mass,material,dimensions,features,release,version,platform,license,"
		"developer,memory,storage,display,battery,camera,employee,student,product,item,"
		"open,close,high,low,start,end,first,last,percent,pct,share,index,index,order,rank,"
		"level,"
		"temperature,pressure,depth,latitude,longitude,lat,lon,x,y,z,hours,minutes,seconds,"
		"days,day,week,month,quarter,period,time,"
		"budget,gross,net,growth,change,error,stock,quantity,distance,duration,strength,"
		"mileage";
	struct dtx_buf low = DTX_BUF_INIT(4096);
	struct dtx_str rest, word;
	bool yes = false;

	dtx_utf8_lower(&low, dtx_str_of(text));
	rest = dtx_buf_str(&low);
	while (!yes && dtx_str_next(&rest, ' ', &word)) {
		char copy[32];

		dtx_str_copy(copy, sizeof(copy), word);
		copy[strcspn(copy, ":_,(")] = '\0';
		yes = copy[0] && dtx_str_in_list(words, copy);
	}
	dtx_buf_clear(&low);
	return yes;
}

/* Whether the names are proper ones of several words or short, as "1. FC Koeln", "Real Madrid". */
static bool are_proper(const char *const *name, size_t n)
{
	size_t i, words = 0;

	for (i = 0; i < n; i++) {
		const char *first = name[i] + strcspn(name[i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		if (first - name[i] > 4 || !isalpha((unsigned char)first[0]) ||
		    strlen(name[i]) > 32 || strpbrk(name[i], "(%_#:?") ||
		    dtx_like_attribute(name[i]))
			return false;
		words += strchr(name[i], ' ') != NULL;
	}
	return words * 2 >= n;
}

/* Whether the names are labels such as "Espresso", "Green tea": they begin with a capital, and none
 * says what is measured. */
static bool are_labels(const char *const *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!isupper((unsigned char)name[i][0]) || strlen(name[i]) > 32 ||
		    strpbrk(name[i], "0123456789(%_#") || dtx_like_attribute(name[i]))
			return n >= 6 && are_proper(name, n);
	}
	return n >= 2;
}

/* Whether the names can be kinds of one thing, such as "brown", "hazel" or "B200", "SST-2": one or
 * two words, of which none says what is measured. */
static bool are_kinds(const char *const *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct dtx_str t = dtx_utf8_trim(dtx_str_of(name[i])), rest = t, word;
		size_t words = 0;

		while (dtx_str_next(&rest, ' ', &word))
			words += word.len > 0;
		if (!words || words > 2 || t.len > 24 || strpbrk(name[i], "(%#/,;:?") ||
		    (islower((unsigned char)*t.ptr) && strchr(name[i], '_')) ||
		    dtx_like_attribute(name[i]))
			return false;
	}
	return n >= 3;
}

/* Whether single letters after the common start skip some, as "W", "L", "T" do. */
static bool skips_letters(const char *const *name, size_t n, size_t start)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (isalpha((unsigned char)name[i][start]) &&
		    name[i][start] != name[i - 1][start] + 1)
			return true;
	}
	return false;
}

/* Whether the numbers after the common start go up, or go down. */
static bool is_ordered(const char *const *name, size_t n, size_t start)
{
	size_t i, up = 0, down = 0;

	for (i = 1; i < n; i++) {
		double a = strtod(name[i - 1] + start, NULL), b = strtod(name[i] + start, NULL);

		up += a < b;
		down += a > b;
	}
	return up + 1 == n || down + 1 == n;
}

bool dtx_like_unnamed(const char *name)
{
	return !name[0] || !strncmp(name, "column_", 7) || !strncmp(name, "Unnamed", 7);
}

struct dtx_like_names dtx_like_names(const char *const *name, size_t n)
{
	struct dtx_like_names out = { .column = "name" };
	size_t count[SERIES_KINDS] = { 0 }, start, end, i, v, letters = 0, dates = 0, shapes = 0;
	uint64_t shape = n ? dtx_cell_shape(dtx_str_of(name[0])) : 0;
	enum series best = SERIES_NONE;

	if (n < 2)
		return out;
	start = common_start(name, n);
	end = common_end(name, n, start);
	for (i = 0; i < start; i++)
		letters += isalpha((unsigned char)name[0][i]) != 0;
	for (i = 0; i < end; i++)
		letters += isalpha((unsigned char)name[0][strlen(name[0]) - 1 - i]) != 0;
	/* "Q1", "Q2" are quarters and "2010-01" dates, not templates */
	for (i = 0; i < n; i++)
		count[series_of(dtx_str_of(name[i]))]++;
	if (count[SERIES_NONE]) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[series_of((struct dtx_str){ name[i] + start,
			                                  strlen(name[i]) - start - end })]++;
	} else {
		start = end = letters = 0;
	}
	for (i = 1; i < SERIES_KINDS; i++) {
		if (count[i] > count[best] || !best)
			best = (enum series)i;
	}
	for (i = 0; i < n; i++) {
		enum series s = series_of(dtx_str_of(name[i]));

		dates += s && s != SERIES_INT && s != SERIES_ORDINAL;
		shapes += dtx_cell_shape(dtx_str_of(name[i])) == shape;
		if (dtx_like_unnamed(name[i]))
			return out;
	}
	out.start = (struct dtx_str){ name[0], start };
	if (best == SERIES_ORDINAL && skips_letters(name, n, start))
		count[best] = 0;
	if (count[best] == n ||
	    (n >= 4 && best != SERIES_RANGE && count[best] + count[SERIES_RANGE] == n) ||
	    (best == SERIES_INT && count[SERIES_INT] + count[SERIES_YEAR] == n)) {
		/* whole numbers in no order are the first row of a table without a header */
		if (best == SERIES_INT && !letters && !is_ordered(name, n, start))
			return out;
		out.what = series_words[best].what;
		out.column = series_words[best].column;
		out.numbered = best == SERIES_INT || best == SERIES_ORDINAL;
		out.score = letters > 1              ? 1
		            : letters                ? 0.8
		            : best == SERIES_INT     ? 0.9
		            : best == SERIES_ORDINAL ? 0.85
		                                     : 1;
		return out;
	}
	if (are_times(name, n)) {
		out.what = series_words[SERIES_TIME].what;
		out.column = series_words[SERIES_TIME].column;
		out.start.len = 0;
		out.score = 1;
		return out;
	}
	for (v = 0; v < DTX_COUNT(vocabularies); v++) {
		for (i = 0; i < n && in_vocabulary(vocabularies[v], name[i]); i++)
			;
		if (i == n || (i + 1 == n && i > 1 && dtx_like_leftover(name[i])))
			out.score = 0.85;
	}
	if (letters >= 3)
		out.score = DTX_MAX(out.score, 0.85);
	if (dates == n)
		out.score = DTX_MAX(out.score, 0.85);
	if (shapes == n && strpbrk(name[0], "0123456789"))
		out.score = DTX_MAX(out.score, 0.75);
	else if (shapes * 4 >= n * 3 && strpbrk(name[0], "0123456789"))
		out.score = DTX_MAX(out.score, 0.5);
	if (are_labels(name, n))
		out.score = DTX_MAX(out.score, 0.55);
	if (are_kinds(name, n))
		out.score = DTX_MAX(out.score, 0.45);
	/* a series with one other name inside: "9-10", "10-11", "Break", "11-12" */
	if (n >= 5 && count[best] == n - 1 && !start && best != SERIES_INT &&
	    series_of(dtx_str_of(name[0])) && series_of(dtx_str_of(name[n - 1]))) {
		out.what = series_words[best].what;
		out.column = series_words[best].column;
		out.score = DTX_MAX(out.score, 0.8);
	}
	/* a series and what it leaves over: "0-9", "10-19", "unknown" */
	if (n >= 4 && count[best] == n - 1 && best != SERIES_INT &&
	    dtx_like_leftover(name[n - 1])) {
		out.what = series_words[best].what;
		out.column = series_words[best].column;
		out.score = DTX_MAX(out.score, 0.95);
	}
	/* mostly a series: "2019", "2020", "Later" */
	if (count[best] * 4 >= n * 3)
		out.score = DTX_MAX(out.score, 0.5);
	return out;
}

double dtx_like_neighbours(const char *a, const char *b)
{
	const char *const pair[2] = { a, b };

	return dtx_like_names(pair, 2).score;
}
