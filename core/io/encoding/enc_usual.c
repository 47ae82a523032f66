/* The most frequent characters of East Asian languages, and the most frequent letters of other
 * scripts. Bytes read in a wrong encoding give rare ones. */
#include "core/io/encoding/enc_usual.h"

#include "core/base/base.h"
#include "core/base/text/utf8.h"

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

int64_t dtx_enc_usual(struct dtx_str utf8, enum dtx_usual tongue)
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

bool dtx_enc_is_usual(uint32_t cp)
{
	char utf8[4];
	size_t n = dtx_utf8_put(utf8, cp);

	return dtx_str_find(dtx_str_of(usual_letters), (struct dtx_str){ utf8, n }, 0) >= 0;
}
