/* Guesses an encoding by scoring the text that each candidate would give. Letters in words add
 * to the score; signs inside words, capitals after small letters, and letters of another script
 * inside a word subtract from it. */
#include "core/io/encoding/enc_guess.h"

#include <iconv.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/base/memory/mem.h"
#include "core/base/text/str.h"
#include "core/base/text/utf8.h"

enum dtx_usual {
	DTX_USUAL_NONE,
	DTX_USUAL_JAPANESE,
	DTX_USUAL_CHINESE, /* simplified */
	DTX_USUAL_TAIWAN,  /* traditional */
	DTX_USUAL_KOREAN,
	DTX_USUAL_COUNT
};

/* The small letters outside ASCII of languages in Latin script. */

#define LETTERS_FIRST 0xc0u
#define LETTERS_LAST  0x21bu

static const char *const letters_letters[] = {
	"àâæçèéêëîïôùûüÿœ", /* French */
	"äöüßéà",           /* German */
	"áéíñóúüçàèòï",     /* Spanish, Catalan */
	"ãáàâçéêíõóôúü",    /* Portuguese */
	"àèéìíîòóùú",       /* Italian */
	"åäöæøéüèà",        /* Scandinavian */
	"áðéíóúýþæö",       /* Icelandic */
	"ëïéèöüáó",         /* Dutch */
	"áčďéěíňóřšťúůýž",  /* Czech */
	"áäčďéíĺľňóôŕšťúýž",
	"ąćęłńóśźż", /* Polish */
	"áéíóöőúüű", /* Hungarian */
	"ăâîşţșț",   /* Romanian */
	"čćđšž",     /* Croatian, Slovene */
	"çğıöşüâî",  /* Turkish */
	"ąčęėįšųūžāēģīķļņõäöü",
};

/* The small letter for a capital; other characters stay. */
static uint32_t letters_small(uint32_t cp)
{
	bool odd_pairs = (cp >= 0x139 && cp <= 0x148) || (cp >= 0x179 && cp <= 0x17e);

	if (cp >= 0xc0 && cp <= 0xde && cp != 0xd7)
		return cp + 0x20;
	if (cp == 0x178)
		return 0xff;
	if (odd_pairs)
		return cp & 1 ? cp + 1 : cp;
	return cp >= 0x100 ? cp | 1 : cp;
}

static bool letters_is_letter(uint32_t cp)
{
	return ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z') ||
	       (cp >= LETTERS_FIRST && cp != 0xd7 && cp != 0xf7);
}

static void letters_fill(uint32_t mask[LETTERS_LAST + 1])
{
	size_t i, at, len;

	for (i = 0; i < DTX_COUNT(letters_letters); i++) {
		len = strlen(letters_letters[i]);
		for (at = 0; at < len;) {
			uint32_t cp = dtx_utf8_next(letters_letters[i], len, &at);

			if (cp <= LETTERS_LAST)
				mask[cp] |= UINT32_C(1) << i;
		}
	}
}

/* A score from -n to n for n Latin letters outside ASCII: n if one language has all of them.
 * Letters from a wrong encoding usually have no language in common. */
static int64_t enc_letter_score(struct dtx_str utf8)
{
	uint32_t mask[LETTERS_LAST + 1] = { 0 }, before = ' ', after;
	int64_t count[DTX_COUNT(letters_letters)] = { 0 }, n = 0, best = 0;
	size_t at = 0, next, i;

	letters_fill(mask);
	while (at < utf8.len) {
		uint32_t cp = letters_small(dtx_utf8_next(utf8.ptr, utf8.len, &at)), last = before;

		before = cp;
		next = at;
		after = next < utf8.len ? dtx_utf8_next(utf8.ptr, utf8.len, &next) : ' ';
		if (!letters_is_letter(cp) || cp < LETTERS_FIRST || cp > LETTERS_LAST ||
		    (!letters_is_letter(last) && !letters_is_letter(after)))
			continue;
		n++;
		for (i = 0; i < DTX_COUNT(letters_letters); i++)
			count[i] += mask[cp] >> i & 1;
	}
	for (i = 0; i < DTX_COUNT(letters_letters); i++)
		best = DTX_MAX(best, count[i]);
	return 2 * best - n;
}

/* The most frequent characters of East Asian languages, and the most frequent letters of other
 * scripts. Bytes read in a wrong encoding give rare ones. */

#define USUAL_FIRST 0x4e00u
#define USUAL_LAST  0xd7a3u /* the last Korean syllable */

static const char *const usual_texts[DTX_USUAL_COUNT] = {
	[DTX_USUAL_NONE] = "",
	[DTX_USUAL_JAPANESE] =
		"日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者"
		"党地合市業内相方四定今回新場金員九入選立開手米力学問高代明実円関決子動京全目"
		"表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小"
		"七成期公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北"
		"午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反"
		"元重近千考判認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死"
		"増係感特情投示変打男基私各始島直両朝革価式確村提運終果西勢減台広容必応演電歳"
		"住争能無再位置企真流格有疑口過局少放税検藤町常校料沢状工建語球営空職証土急止"
		"送援供可役構木割身費付施切由説転食比難防補車優研収断井何南石足違番神規術護態"
		"号姓郎花鈴阪古屋佐松太美岡福横浜森池橋阿清吉渡辺斎伊林葉崎愛奈良仙兵庫型色単"
		"額量称備店課担商製造顧客",
	[DTX_USUAL_CHINESE] =
		"的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那"
		"得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看"
		"定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第"
		"公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相"
		"见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通"
		"教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活别打女变四神总何电"
		"数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指许统区保至队形"
		"社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南"
		"品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运"
		"编号姓城价址龄省县额李刘陈杨赵黄周吴徐孙胡朱林郭罗京广州深圳武汉杭备注单客户"
		"订存货型状态描述联邮箱银账余款费率购买销售",
	[DTX_USUAL_TAIWAN] =
		"的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那"
		"得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看"
		"定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第"
		"公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相"
		"見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通"
		"教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活別打女變四神總何電"
		"數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指許統區保至隊形"
		"社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南"
		"品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運"
		"編號姓城價址齡縣額李劉陳楊趙黃周吳徐孫胡朱林郭羅灣臺台竹雄香港備註單客戶訂存"
		"貨型麗",
	[DTX_USUAL_KOREAN] =
		"이가다는의에로하고을를기지사리인대한도시자장정서아나어부수전일번호름김박최주"
		"구동강영철희민성울산경제상공원보조해과연유세여선소신마년월위그중국회학교명분"
		"방라차용비재출력무내외금액은들관계치안진행입량모든문물품격날짜택화메본남북광"
		"천청충",
};

/* Letters that make up more than half of any text of words. */
static const char usual_letters[] = "оеаинтсрвлк"
				    "αοιετσνηυρ"
				    "יוהאלמרתבש"
				    "اليمنرتبوسعد";

static void usual_fill(enum dtx_usual tongue, uint64_t bits[(USUAL_LAST - USUAL_FIRST) / 64 + 1])
{
	struct dtx_str text = dtx_str_of(usual_texts[tongue]);
	size_t at = 0;

	while (at < text.len) {
		uint32_t cp = dtx_utf8_next(text.ptr, text.len, &at) - USUAL_FIRST;

		bits[cp / 64] |= UINT64_C(1) << cp % 64;
	}
}

static bool usual_is_east(uint32_t cp)
{
	return (cp >= USUAL_FIRST && cp <= 0x9fff) || (cp >= 0xac00 && cp <= USUAL_LAST) ||
	       (cp >= 0x3040 && cp <= 0x30ff);
}

/* Counts the frequent ideographs and syllables of the language that are next to another
 * character of it. */
static int64_t enc_usual(struct dtx_str utf8, enum dtx_usual tongue)
{
	uint64_t bits[(USUAL_LAST - USUAL_FIRST) / 64 + 1] = { 0 };
	uint32_t before = ' ', cp, after;
	uint64_t n = 0;
	size_t at = 0, next;

	usual_fill(tongue, bits);
	while (tongue && at < utf8.len) {
		cp = dtx_utf8_next(utf8.ptr, utf8.len, &at);
		next = at;
		after = next < utf8.len ? dtx_utf8_next(utf8.ptr, utf8.len, &next) : ' ';
		if (cp >= USUAL_FIRST && cp <= USUAL_LAST &&
		    (usual_is_east(before) || usual_is_east(after)))
			n += bits[(cp - USUAL_FIRST) / 64] >> (cp - USUAL_FIRST) % 64 & 1;
		before = cp;
	}
	return (int64_t)n;
}

/* Whether this is one of the most frequent small letters of Cyrillic, Greek, Hebrew or Arabic. */
static bool enc_is_usual(uint32_t cp)
{
	char utf8[4];
	size_t n = dtx_utf8_put(utf8, cp);

	return dtx_str_find(dtx_str_of(usual_letters), (struct dtx_str){ utf8, n }, 0) >= 0;
}

#define GUESS_BEFORE ((size_t)1 << 10) /* bytes before the first bad byte that are looked at */
#define GUESS_BYTES  ((size_t)64 << 10)
#define GUESS_UTF8   1 /* as many bad bytes per good sequence, and it still counts as UTF-8 */
#define GUESS_ERROR  10
#define GUESS_PAIR   14             /* quotation marks around a word: worth more than two letters */
#define GUESS_SINGLE 8              /* an apostrophe or a dash where people write one */
#define GUESS_THORNS "\xfe\x14\xfe" /* the delimiters of a known export of law cases */
#define GUESS_PLACE  8              /* a letter at a place where no word has it */
#define GUESS_USUAL  3              /* a frequent East Asian character */
#define GUESS_WORDS  8              /* with so many small letters there are some words */
#define GUESS_OLD    8              /* line ends of the system that used this encoding */
#define GUESS_NEW    1              /* other line ends; decides between equals */
#define GUESS_RIVAL  3              /* a score that is lower by so little is as likely */
#define GUESS_MONEY  4              /* a currency sign next to a number */

/* Of equal scores, the first in this list wins. Nearly every text in GB 18030 only uses the
 * characters of its oldest part; `read` is the narrower set where that helps to distinguish
 * texts. */
static const struct guess_name {
	const char *name, *read;
	int east, kana; /* score of an East Asian character */
	enum dtx_usual tongue;
} guess_names[] = {
	{ "windows-1252", "windows-1252", 0, 0, DTX_USUAL_NONE },
	{ "windows-1250", "windows-1250", 0, 0, DTX_USUAL_NONE },
	{ "windows-1251", "windows-1251", 0, 0, DTX_USUAL_NONE },
	{ "shift-jis", "cp932", 7, 8, DTX_USUAL_JAPANESE },
	{ "gb18030", "gb2312", 7, 0, DTX_USUAL_CHINESE },
	{ "euc-jp", "euc-jp", 7, 8, DTX_USUAL_JAPANESE },
	{ "euc-kr", "euc-kr", 7, 0, DTX_USUAL_KOREAN },
	{ "big5", "big5", 6, 0, DTX_USUAL_TAIWAN },
	{ "gb18030", "gb18030", 6, 0, DTX_USUAL_CHINESE },
	{ "cp850", "cp850", 0, 0, DTX_USUAL_NONE },
	{ "macintosh", "macintosh", 0, 0, DTX_USUAL_NONE },
	{ "koi8-r", "koi8-r", 0, 0, DTX_USUAL_NONE },
	{ "iso-8859-5", "iso-8859-5", 0, 0, DTX_USUAL_NONE },
	{ "windows-1253", "windows-1253", 0, 0, DTX_USUAL_NONE },
	{ "iso-8859-2", "iso-8859-2", 0, 0, DTX_USUAL_NONE },
	{ "windows-1254", "windows-1254", 0, 0, DTX_USUAL_NONE },
	{ "windows-1257", "windows-1257", 0, 0, DTX_USUAL_NONE },
	{ "windows-1255", "windows-1255", 0, 0, DTX_USUAL_NONE },
	{ "windows-1256", "windows-1256", 0, 0, DTX_USUAL_NONE },
	{ "iso-8859-6", "iso-8859-6", 0, 0, DTX_USUAL_NONE },
	{ "iso-8859-15", "iso-8859-15", 0, 0, DTX_USUAL_NONE },
	{ "cp874", "cp874", 0, 0, DTX_USUAL_NONE },
	{ "cp866", "cp866", 0, 0, DTX_USUAL_NONE },
	{ "cp852", "cp852", 0, 0, DTX_USUAL_NONE },
	{ "iso-8859-4", "iso-8859-4", 0, 0, DTX_USUAL_NONE },
	{ "cp775", "cp775", 0, 0, DTX_USUAL_NONE },
};

enum guess_kind {
	GUESS_OTHER, /* digits, blanks, ASCII signs */
	GUESS_LATIN, /* ASCII letters */
	GUESS_LOWER,
	GUESS_UPPER,  /* Latin letters outside ASCII */
	GUESS_RARE,   /* letters that hardly any text contains */
	GUESS_SCRIPT, /* Greek, Cyrillic, Hebrew, Arabic */
	GUESS_EAST,   /* ideographs */
	GUESS_KANA,
	GUESS_HANGUL,
	GUESS_SIGN,
	GUESS_MARK, /* typographic quotes and dashes, often next to letters */
	GUESS_CONTROL
};

static const struct guess_range {
	uint32_t from, to;
	enum guess_kind kind;
} guess_ranges[] = {
	{ 'A', 'Z', GUESS_LATIN },        { 'a', 'z', GUESS_LATIN },
	{ 0x00, 0x7f, GUESS_OTHER },      { 0x80, 0x9f, GUESS_CONTROL },
	{ 0xd7, 0xd7, GUESS_SIGN },       { 0xf7, 0xf7, GUESS_SIGN },
	{ 0xd0, 0xd0, GUESS_RARE },       { 0xde, 0xde, GUESS_RARE },
	{ 0xf0, 0xf0, GUESS_RARE },       { 0xfd, 0xff, GUESS_RARE },
	{ 0xa7, 0xa7, GUESS_MARK },       { 0xa9, 0xab, GUESS_MARK },
	{ 0xad, 0xb3, GUESS_MARK },       { 0xb5, 0xb7, GUESS_MARK },
	{ 0xb9, 0xbe, GUESS_MARK },       { 0x2122, 0x2122, GUESS_MARK },
	{ 0xc0, 0xde, GUESS_UPPER },      { 0xdf, 0xff, GUESS_LOWER },
	{ 0x100, 0x17f, GUESS_LOWER },    { 0x370, 0x3ff, GUESS_SCRIPT },

	{ 0x400, 0x52f, GUESS_SCRIPT },   { 0x2010, 0x201f, GUESS_MARK },
	{ 0x2026, 0x2026, GUESS_MARK },   { 0xa0, 0xa0, GUESS_MARK },
	{ 0x3040, 0x30ff, GUESS_KANA },   { 0x4e00, 0x9fff, GUESS_EAST },
	{ 0xac00, 0xd7a3, GUESS_HANGUL }, { 0x3000, 0x303f, GUESS_MARK },
	{ 0xff00, 0xff60, GUESS_MARK },   { 0x5d0, 0x5ea, GUESS_SCRIPT },
	{ 0x621, 0x64a, GUESS_SCRIPT },   { 0xe01, 0xe3a, GUESS_SCRIPT },
	{ 0xe40, 0xe4e, GUESS_SCRIPT },   { 0x2116, 0x2116, GUESS_MARK },
	{ 0x20ac, 0x20ac, GUESS_MARK },
};

static enum guess_kind guess_kind(uint32_t cp)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(guess_ranges); i++) {
		if (cp >= guess_ranges[i].from && cp <= guess_ranges[i].to)
			return guess_ranges[i].kind;
	}
	return GUESS_SIGN;
}

static bool guess_is_letter(enum guess_kind k)
{
	return k >= GUESS_LATIN && k <= GUESS_HANGUL;
}

static bool guess_is_european(enum guess_kind k)
{
	return k >= GUESS_LATIN && k <= GUESS_RARE;
}

/* In Greek and Cyrillic. */
static bool guess_is_capital(uint32_t cp)
{
	return (cp >= 0x391 && cp <= 0x3a9) || (cp >= 0x400 && cp <= 0x42f);
}

static bool guess_is_small(uint32_t cp)
{
	return (cp >= 0x3b1 && cp <= 0x3c9) || (cp >= 0x430 && cp <= 0x45f);
}

/* Cyrillic letters of only some languages: allowed in words, but no evidence. */
static bool guess_is_national(uint32_t cp)
{
	return (cp >= 0x400 && cp <= 0x40f && cp != 0x401) ||
	       (cp >= 0x450 && cp <= 0x45f && cp != 0x451);
}

/* The score of an East Asian character with that neighbour. Hangul is hardly ever next to
 * ideographs. */
static int guess_east(enum guess_kind k, enum guess_kind beside, const struct guess_name *as)
{
	if (k == GUESS_HANGUL)
		return beside == GUESS_HANGUL ? as->east + 1 : 0;
	if (beside != GUESS_EAST && beside != GUESS_KANA)
		return 0;
	return k == GUESS_KANA ? as->kana : as->east;
}

/* Thai marks are above or below a letter, and some vowels come before one. */
static bool guess_thai_fits(uint32_t last, uint32_t cp, enum guess_kind after)
{
	bool mark = cp == 0xe31 || (cp >= 0xe34 && cp <= 0xe3a) || cp >= 0xe47;
	bool before = last >= 0xe40 && last <= 0xe44;

	if (cp >= 0xe40 && cp <= 0xe44 && after != GUESS_SCRIPT)
		return false;
	return mark ? last >= 0xe01 && last <= 0xe4e && !before
	            : !before || (cp >= 0xe01 && cp <= 0xe2e);
}

/* How well a character outside ASCII fits between its neighbours. */
static int guess_fit(enum guess_kind before, uint32_t cp, enum guess_kind after, uint32_t last,
                     const struct guess_name *as)
{
	enum guess_kind k = guess_kind(cp);
	bool left = guess_is_letter(before), right = guess_is_letter(after);
	bool small_before = (last >= 'a' && last <= 'z') || before == GUESS_LOWER;

	switch (k) {
	case GUESS_LOWER: return left || right ? 4 : 0;
	case GUESS_UPPER: return small_before ? -4 : right || left ? 3 : 0;
	case GUESS_RARE: return -1;
	case GUESS_SCRIPT:
		if (guess_is_european(before) || guess_is_european(after) ||
		    (guess_is_capital(cp) && guess_is_small(last)))
			return -6;
		if (cp >= 0xe00 && cp < 0xe80 && !guess_thai_fits(last, cp, after))
			return -GUESS_PLACE;
		if (guess_is_national(cp) || (before != GUESS_SCRIPT && after != GUESS_SCRIPT))
			return 0;
		return enc_is_usual(cp) ? 5 : 4;
	case GUESS_EAST:
	case GUESS_KANA:
	case GUESS_HANGUL:
		if (guess_is_european(before) || guess_is_european(after))
			return -8;
		return DTX_MAX(guess_east(k, before, as), guess_east(k, after, as));
	case GUESS_SIGN: return left && right ? -4 : -1;
	case GUESS_CONTROL: return -GUESS_ERROR;
	default: return 0;
	}
}

/* Three Latin letters outside ASCII in a row are rare: they are probably another script read
 * wrongly. */
static int guess_run(enum guess_kind k, int *run)
{
	*run = k == GUESS_LOWER || k == GUESS_UPPER || k == GUESS_RARE ? *run + 1 : 0;
	return *run >= 3 ? -6 : 0;
}

static uint32_t guess_lower(uint32_t cp)
{
	return cp >= 'A' && cp <= 'Z' ? cp | 0x20 : cp;
}

static bool guess_is_of(uint32_t cp, const char *letters)
{
	cp = guess_lower(cp);
	return cp && cp < 0x80 && strchr(letters, (int)cp);
}

/* Whether this is an apostrophe as in O'Neil, l'eau, Ann's or don't, which must not be scored as
 * a sign inside a word. */
static bool guess_apostrophe(const char *s, size_t len, size_t at, uint32_t last, uint32_t second)
{
	size_t to = at;
	uint32_t next = to < len ? dtx_utf8_next(s, len, &to) : ' ';
	uint32_t after = to < len ? dtx_utf8_next(s, len, &to) : ' ';

	if (guess_kind(last) != GUESS_LATIN || guess_kind(next) != GUESS_LATIN)
		return false;
	if (!guess_is_letter(guess_kind(second)))
		return guess_is_of(last, "odlcjnmst");
	return guess_is_of(next, "stdm") && !guess_is_letter(guess_kind(after));
}

static bool guess_is_digit(uint32_t cp)
{
	return cp >= '0' && cp <= '9';
}

/* "£10", "10 €": a currency sign where no letter can be. */
static bool guess_money(uint32_t cp, const uint32_t last[2], uint32_t next)
{
	bool sign = cp == 0xa3 || cp == 0xa5 || cp == 0x20ac;

	return sign && ((guess_is_digit(next) && !guess_is_letter(guess_kind(last[0]))) ||
	                guess_is_digit(last[0]) || (last[0] == ' ' && guess_is_digit(last[1])));
}

/* "[µg]", "5 µm": the sign for micro before a unit. */
static bool guess_micro(uint32_t cp, uint32_t before, uint32_t next)
{
	return cp == 0xb5 && !guess_is_letter(guess_kind(before)) && next < 0x80 && next &&
	       strchr("gmslLAVFMSW", (int)next);
}

/* "21 °C", "[°F]": a degree sign. */
static bool guess_degree(uint32_t cp, uint32_t before, uint32_t next)
{
	return cp == 0xb0 && (next == 'C' || next == 'F') && !guess_is_letter(guess_kind(before));
}

/* "1º", "2ª", "nº", "5½": an ordinal sign or fraction. */
static bool guess_ordinal(uint32_t cp, const uint32_t last[2], bool right)
{
	if (cp >= 0xbc && cp <= 0xbe)
		return guess_is_digit(last[0]) && !right;
	return (cp == 0xba || cp == 0xaa) && !right &&
	       (guess_is_digit(last[0]) ||
	        ((last[0] | 0x20) == 'n' && !guess_is_letter(guess_kind(last[1]))));
}

/* "Name™", "Name®", "and so on…". The ellipsis is checked, because cp850 has it in place of the
 * last letter of "città". */
static bool guess_word_end(uint32_t cp, uint32_t before, bool left, bool right)
{
	if (right || !left)
		return false;
	return cp == 0x2122 || cp == 0xae || (cp == 0x2026 && before != 't');
}

/* Scores a typographic mark `cp`, with the text after it from `at` on. `open` is the opening
 * mark that still needs its other half on this line. */
static int guess_mark(const char *s, size_t len, size_t at, uint32_t cp, const uint32_t last[2],
                      uint32_t *open)
{
	bool left = guess_is_letter(guess_kind(last[0])), right;
	size_t to = at;
	uint32_t next = at < len ? dtx_utf8_next(s, len, &to) : ' ';

	right = guess_is_letter(guess_kind(next));
	if (cp == '\n')
		*open = 0;
	if (*open && last[0] != ' ' && !right &&
	    (cp == *open + 1 || (*open == 0x201e && cp == 0x201c))) {
		*open = 0;
		return GUESS_PAIR;
	}
	if ((cp == 0x2018 || cp == 0x201c || cp == 0x201e) && !left && right)
		*open = cp;
	if (guess_money(cp, last, next))
		return GUESS_MONEY;
	if (guess_micro(cp, last[0], next) || guess_degree(cp, last[0], next))
		return GUESS_SINGLE;
	if (guess_ordinal(cp, last, right) || guess_word_end(cp, last[0], left, right))
		return GUESS_SINGLE;
	if (cp == 0x2022)
		return last[0] < 0x80 && !left && next == ' ' ? GUESS_SINGLE : 0;
	if (cp == 0x2013 || cp == 0x2014)
		return last[0] == ' ' && next == ' ' ? GUESS_SINGLE : 0;
	return cp == 0x2019 && guess_apostrophe(s, len, at, last[0], last[1]) ? GUESS_SINGLE : 0;
}

/* No word begins or ends with the hard sign, and the final forms of Hebrew letters occur only at
 * the end. */
static int guess_misplaced(enum guess_kind before, uint32_t cp, enum guess_kind after)
{
	bool left = guess_is_letter(before), right = guess_is_letter(after);

	if (cp == 0x42a || cp == 0x44a)
		return left && right ? 0 : GUESS_PLACE;
	if (cp == 0x42b || cp == 0x42c || cp == 0x44b || cp == 0x44c)
		return left ? 0 : GUESS_PLACE;
	return right && (cp == 0x3c2 || cp == 0x5da || cp == 0x5dd || cp == 0x5df || cp == 0x5e3 ||
	                 cp == 0x5e5)
	               ? GUESS_PLACE
	               : 0;
}

/* Greek words in small letters have one accent each, so a text without any is another script. */
struct guess_accents {
	int64_t letters, accents;
};

static void guess_greek(struct guess_accents *g, uint32_t cp)
{
	bool accent = (cp >= 0x3ac && cp <= 0x3af) || (cp >= 0x3cc && cp <= 0x3ce) || cp == 0x390 ||
	              cp == 0x3b0;

	g->letters += cp >= 0x3b1 && cp <= 0x3c9;
	g->accents += accent;
}

static int64_t guess_score(const char *utf8, size_t len, const struct guess_name *as)
{
	enum guess_kind before = GUESS_OTHER, here, after;
	uint32_t last[2] = { ' ', ' ' }, cp, open = 0;
	struct guess_accents greek = { 0, 0 };
	int64_t score = 0, usual;
	size_t at = 0, next;
	bool kana = false;
	int run = 0;

	while (at < len) {
		cp = dtx_utf8_next(utf8, len, &at);
		here = guess_kind(cp);
		kana |= here == GUESS_KANA;
		next = at;
		after = next < len ? guess_kind(dtx_utf8_next(utf8, len, &next)) : GUESS_OTHER;
		score += guess_run(here, &run);
		if (cp >= 0x80)
			score += guess_fit(before, cp, after, last[0], as) -
			         guess_misplaced(before, cp, after);
		score += guess_mark(utf8, len, at, cp, last, &open);
		guess_greek(&greek, cp);
		before = here;
		last[1] = last[0];
		last[0] = cp;
	}
	if (greek.letters >= GUESS_WORDS && !greek.accents)
		score -= greek.letters;
	usual = enc_usual((struct dtx_str){ utf8, len }, as->tongue);
	/* There are some characters, but none is frequent: probably European letters in a row. */
	if (as->tongue && !usual && !kana && score > 0)
		score /= 2;
	return score + 2 * enc_letter_score((struct dtx_str){ utf8, len }) + GUESS_USUAL * usual;
}

/* Scores the sample as read in one encoding; each byte that cannot be converted subtracts. */
static int64_t guess_try(const struct guess_name *as, struct dtx_str sample, char *room,
                         size_t size)
{
	iconv_t cd = iconv_open("UTF-8", as->read);
	char *in = (char *)(uintptr_t)sample.ptr, *to = room;
	size_t left = sample.len, space = size;
	int64_t errors = 0;

	if (cd == (iconv_t)-1)
		return INT64_MIN;
	while (left && iconv(cd, &in, &left, &to, &space) == (size_t)-1 && left && space > 4) {
		errors++;
		in++;
		left--;
	}
	iconv_close(cd);
	return guess_score(room, (size_t)(to - room), as) - errors * GUESS_ERROR;
}

/* Whether this is a typographic sign of windows-1252 where no letter would be. Such signs get
 * pasted into any text. */
static bool guess_is_pasted(struct dtx_str s, size_t at)
{
	uint32_t before = at ? (unsigned char)s.ptr[at - 1] : ' ';
	uint32_t after = at + 1 < s.len ? (unsigned char)s.ptr[at + 1] : ' ';
	bool left = guess_kind(before) == GUESS_LATIN, right = guess_kind(after) == GUESS_LATIN;

	if (before >= 0x80 || after >= 0x80)
		return false;
	return s.ptr[at] == '\x92' || (strchr("\x91\x93\x94", s.ptr[at]) && !(left && right)) ||
	       (dtx_enc_is_sign(s.ptr[at]) && !left && !right);
}

/* In windows-1252, "ß“" and "É”" look like valid UTF-8 sequences, but of letters that hardly any
 * text contains. */
static bool guess_is_closing(uint32_t cp)
{
	bool quote = (cp & 0x3f) >= 0x12 && (cp & 0x3f) <= 0x14;

	return (cp >= 0x700 && cp < 0x800) || (quote && cp >= 0x240 && cp < 0x380);
}

/* Whether most of the text is UTF-8. Pasted signs do not count against it. */
static bool guess_mostly_utf8(struct dtx_str s, size_t bad)
{
	size_t at = 0, good = 0, flaws = 0;

	while (at < s.len) {
		size_t from = at;

		if (at >= bad || (unsigned char)s.ptr[at] >= 0x80) {
			uint32_t cp = dtx_utf8_next(s.ptr, s.len, &at);

			if (at - from > 1)
				*(guess_is_closing(cp) ? &flaws : &good) += 1;
			else if ((unsigned char)s.ptr[from] >= 0x80)
				flaws += !guess_is_pasted(s, from);
		} else {
			at++;
		}
	}
	return good && good * GUESS_UTF8 >= flaws;
}

/* Whether it contains letters that every Baltic text of a few words has, and hardly any other. */
static bool guess_baltic(struct dtx_str s)
{
	static const char letters[] = "\xf0\xfe\xd0\xde";
	size_t i;

	for (i = 0; letters[i]; i++) {
		if (memchr(s.ptr, letters[i], s.len))
			return true;
	}
	return false;
}

/* Letters, digits, blanks and common punctuation of EBCDIC. */
static bool guess_is_ebcdic_text(unsigned char b)
{
	unsigned low = b & 0x0f;

	return (b >= 0xf0 && b <= 0xf9) || ((b >= 0x81 && b <= 0xa9) && low >= 1 && low <= 9) ||
	       ((b >= 0xc1 && b <= 0xe9) && low >= 1 && low <= 9) ||
	       (b && strchr("\x40\x4b\x6b\x5e\x60\x61\x7d\x7f\x7a\x4d\x5d\x05\x0d\x15\x25", b));
}

bool dtx_enc_is_ebcdic(struct dtx_str text)
{
	size_t len = DTX_MIN(text.len, (size_t)4096), good = 0, ends = 0, i;

	for (i = 0; i < len; i++) {
		unsigned char b = (unsigned char)text.ptr[i];

		good += guess_is_ebcdic_text(b);
		ends += b == 0x15 || b == 0x25;
	}
	return ends && good * 100 >= len * 97 && !memchr(text.ptr, '\n', len);
}

/* Whether the only bytes outside ASCII are no-break spaces next to digits. In an old code page this
 * byte is \u00e1, which would not occur only there. */
static bool guess_only_blanks(struct dtx_str s)
{
	bool digit = false;
	size_t i;

	for (i = 0; i < s.len; i++) {
		if ((unsigned char)s.ptr[i] < 0x80)
			continue;
		if ((unsigned char)s.ptr[i] != 0xa0)
			return false;
		digit |= (i && guess_is_digit((unsigned char)s.ptr[i - 1])) ||
		         (i + 1 < s.len && guess_is_digit((unsigned char)s.ptr[i + 1]));
	}
	return digit;
}

/* The sample: from the line of the first bad byte on. */
static struct dtx_str guess_sample(struct dtx_str text, size_t bad)
{
	size_t from = bad > GUESS_BEFORE ? bad - GUESS_BEFORE : 0;

	while (from && from < bad && text.ptr[from - 1] != '\n')
		from++;
	return (struct dtx_str){ text.ptr + from, DTX_MIN(text.len - from, GUESS_BYTES) };
}

/* Scores all encodings; returns false if out of memory. */
static bool guess_all(struct dtx_str sample, int64_t score[DTX_COUNT(guess_names)])
{
	size_t size = GUESS_BYTES * 3 + 16, i;
	char *room = dtx_mem_alloc(size, 1);
	bool old_ends; /* line ends of old Macintoshs */

	old_ends = memchr(sample.ptr, '\r', sample.len) && !memchr(sample.ptr, '\n', sample.len);
	for (i = 0; room && i < DTX_COUNT(guess_names); i++)
		score[i] = guess_try(&guess_names[i], sample, room, size) +
		           (strcmp(guess_names[i].name, "macintosh") ? 0
		            : old_ends                               ? GUESS_OLD
		                                                     : -GUESS_NEW);
	dtx_mem_free(room);
	return room != NULL;
}

/* Groups encodings that are mistaken for each other: those of DOS, and those of Windows and ISO. */
static int guess_kin(const char *name)
{
	return strncmp(name, "cp8", 3) == 0 || strncmp(name, "cp7", 3) == 0 ? 1
	       : strcmp(name, "macintosh") == 0                             ? 2
	                                                                    : 0;
}

static size_t enc_rivals(struct dtx_str text, const char *guess, const char *name[DTX_ENC_RIVALS])
{
	ptrdiff_t bad = dtx_utf8_bad(text.ptr, text.len);
	int64_t score[DTX_COUNT(guess_names)], own = INT64_MAX;
	size_t i, n = 0;

	if (bad < 0 || !guess_all(guess_sample(text, (size_t)bad), score))
		return 0;
	for (i = 0; i < DTX_COUNT(guess_names); i++)
		own = strcmp(guess_names[i].name, guess) || guess_names[i].east ? own : score[i];
	for (i = 0; i < DTX_COUNT(guess_names) && n < DTX_ENC_RIVALS; i++) {
		if (own - GUESS_RIVAL <= score[i] && own < INT64_MAX && !guess_names[i].east &&
		    strcmp(guess_names[i].name, guess) &&
		    guess_kin(guess) == guess_kin(guess_names[i].name))
			name[n++] = guess_names[i].name;
	}
	return n;
}

const char *dtx_enc_guess(struct dtx_str text)
{
	ptrdiff_t bad = dtx_utf8_bad(text.ptr, text.len);
	struct dtx_str sample;
	int64_t best = INT64_MIN, score[DTX_COUNT(guess_names)];
	const char *name = guess_names[0].name;
	size_t i;

	if (bad < 0)
		return "utf-8";
	if (dtx_enc_is_ebcdic(text))
		return "ibm037";
	if (dtx_str_find(text, DTX_STR(GUESS_THORNS), 0) >= 0)
		return "windows-1252";
	if (guess_mostly_utf8(text, (size_t)bad))
		return DTX_ENC_MENDED;
	sample = guess_sample(text, (size_t)bad);
	if (guess_only_blanks(sample) || !guess_all(sample, score))
		return name;
	for (i = 0; i < DTX_COUNT(guess_names); i++) {
		if (!strcmp(guess_names[i].name, "windows-1257") && !guess_baltic(sample))
			continue;
		if (score[i] > best) {
			best = score[i];
			name = guess_names[i].name;
		}
	}
	return name;
}

/* For short texts that could be in several encodings: finds which, and how each of them would
 * read a word. */

#define RIVALS_TEXT  ((size_t)64 << 10)
#define RIVALS_TEXTS 2  /* other readings that are shown */
#define RIVALS_WORD  16 /* bytes shown on each side of the one that differs */
#define RIVALS_SHOWN (4 * (2 * RIVALS_WORD + 1))

/* Converts a piece of the text; returns 0 if the encoding cannot read it. */
static size_t read_as(struct dtx_str piece, const char *name, char *out, size_t room)
{
	iconv_t cd = iconv_open("UTF-8", name);
	char *in = (char *)(uintptr_t)piece.ptr, *put = out;
	size_t left = piece.len, space = room, got;

	if (cd == (iconv_t)-1)
		return 0;
	got = iconv(cd, &in, &left, &put, &space);
	iconv_close(cd);
	return got != (size_t)-1 && !left ? room - space : 0;
}

static bool in_word(char c)
{
	return (unsigned char)c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static struct dtx_str word_at(struct dtx_str text, size_t at)
{
	size_t from = at, to = at;

	while (from && at - from < RIVALS_WORD && in_word(text.ptr[from - 1]))
		from--;
	while (to < text.len && to - at < RIVALS_WORD && in_word(text.ptr[to]))
		to++;
	return (struct dtx_str){ text.ptr + from, to - from };
}

/* What a single-byte encoding makes of each byte outside ASCII. */
struct rival {
	const char *name;
	uint32_t letter[128];
};

static void learn(struct rival *r, const char *name)
{
	iconv_t cd = iconv_open("UTF-8", name);
	char byte, out[8], *in, *put;
	size_t i, left, space;

	*r = (struct rival){ .name = name };
	for (i = 0; cd != (iconv_t)-1 && i < DTX_COUNT(r->letter); i++) {
		byte = (char)(0x80 + i);
		in = &byte;
		put = out;
		left = 1;
		space = sizeof(out);
		(void)iconv(cd, NULL, NULL, NULL, NULL);
		if (iconv(cd, &in, &left, &put, &space) != (size_t)-1 && put > out &&
		    put - out <= 4)
			memcpy(&r->letter[i], out, (size_t)(put - out));
	}
	if (cd != (iconv_t)-1)
		iconv_close(cd);
}

/* The first byte that two encodings read differently, or text.len. */
static size_t first_other(struct dtx_str text, const struct rival *a, const struct rival *b)
{
	size_t at;

	for (at = 0; at < text.len; at++) {
		unsigned char c = (unsigned char)text.ptr[at];

		if (c >= 0x80 &&
		    (!a->letter[c - 0x80] || a->letter[c - 0x80] != b->letter[c - 0x80]))
			return at;
	}
	return text.len;
}

void dtx_enc_rivals_tell(struct dtx_str text, const char *guess, struct dtx_buf *out)
{
	const char *name[DTX_ENC_RIVALS];
	size_t n = enc_rivals(text, guess, name), i, k, at, shown = 0;
	char as[RIVALS_SHOWN], is[RIVALS_SHOWN];
	struct rival own, rival[DTX_ENC_RIVALS];
	struct dtx_str word;

	text.len = DTX_MIN(text.len, RIVALS_TEXT);
	if (n)
		learn(&own, guess);
	for (i = 0; i < n; i++)
		learn(&rival[i], name[i]);
	for (i = 0; i < n && shown < RIVALS_TEXTS; i++) {
		at = first_other(text, &own, &rival[i]);
		for (k = 0; k < i && at < text.len; k++)
			if (first_other(text, &rival[k], &rival[i]) == text.len)
				at = text.len; /* the same as an earlier one */
		if (at == text.len)
			continue;
		word = word_at(text, at);
		dtx_buf_printf(out, "%s '%.*s'", shown++ ? "," : "; as likely",
		               (int)read_as(word, name[i], as, sizeof(as)), as);
		dtx_buf_printf(out, " (--encoding %s", name[i]);
		for (k = i + 1; k < n; k++)
			if (first_other(text, &rival[k], &rival[i]) == text.len)
				dtx_buf_printf(out, ", the same as %s", name[k]);
		dtx_buf_printf(out, ") as '%.*s' (%s)", (int)read_as(word, guess, is, sizeof(is)),
		               is, guess);
	}
}
