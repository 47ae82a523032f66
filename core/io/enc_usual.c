/* Characters that texts of the Far East are mostly written with, and the commonest letters of other
 * scripts: bytes read in a wrong encoding give rare ones. */
#include "core/io/enc_usual.h"

#include "core/base/base.h"
#include "core/base/utf8.h"

#define USUAL_FIRST 0x4e00u
#define USUAL_LAST  0xd7a3u /* the last syllable of Korean */

static const char *const usual_texts[DTX_USUAL_COUNT] = {
	[DTX_USUAL_NONE] = "",
	[DTX_USUAL_JAPANESE] =
		"日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合"
		"市業"
		"内相方四定今回新場金員九入選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏"
		"現理"
		"調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平"
		"総加"
		"山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活"
		"原先"
		"共得解名交資予川向際査勝面委告軍文反元重近千考判認画海参売利組知案道信策集在件団別"
		"物側"
		"任引使求所次水半品昨論計死増係感特情投示変打男基私各始島直両朝革価式確村提運終果西"
		"勢減"
		"台広容必応演電歳住争能無再位置企真流格有疑口過局少放税検藤町常校料沢状工建語球営空"
		"職証"
		"土急止送援供可役構木割身費付施切由説転食比難防補車優研収断井何南石足違番神規術護態"
		"号姓郎花鈴阪古屋佐村松太美岡福横浜森池橋本阿清吉渡辺斎伊木林小原千葉崎愛京奈良仙兵"
		"庫"
		"型色単額計額量称住所電話備考区分店課係担商製造在庫顧客",
	[DTX_USUAL_CHINESE] = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生"
			      "能而子那得于着下自之"
			      "年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天"
			      "分还进好小部其些主样"
			      "理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性"
			      "知全三又关点正业外将"
			      "两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加"
			      "西斯月话合回特代内信"
			      "表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入"
			      "几口认条平系气题活别"
			      "打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德"
			      "资命山金指许统区保至"
			      "队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完"
			      "设式色路记南品住告类"
			      "求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运"
			      "编号姓名城市价址址性"
			      "龄省县额李王张刘陈杨赵黄周吴徐孙胡朱高林何郭罗京广州深圳成都武汉杭备"
			      "注单位客户订存货类型"
			      "状态描述联系邮箱手机银行账余款费率购买销售",
	[DTX_USUAL_TAIWAN] = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生"
			     "能而子那得於著下自之"
			     "年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天"
			     "分還進好小部其些主樣"
			     "理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性"
			     "知全三又關點正業外將"
			     "兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加"
			     "西斯月話合回特代內信"
			     "表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入"
			     "幾口認條平系氣題活別"
			     "打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德"
			     "資命山金指許統區保至"
			     "隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完"
			     "設式色路記南品住告類"
			     "求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運"
			     "編號姓名城市價址性齡"
			     "縣額李王張劉陳楊趙黃周吳徐孫胡朱高林何郭羅灣北臺台新竹高雄香港備註單"
			     "位客戶訂存貨類型麗",
	[DTX_USUAL_KOREAN] = "이가다는의에로하고을를기지사리인대한도시자장정서아나어부수전일번호름"
			     "김박최주구동강영철희민"
			     "성울산경제상공원보조해과연유세여선소구신마년월위그중국회학교명분방라"
			     "차용비재출력무내외금액"
			     "은들관계치안진행입량모든문물품가격날짜주택전화메일본남북광천청충",
};

/* Letters that more than half of a text of words is made of. */
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
	int64_t n = 0;
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
	return n;
}

bool dtx_enc_is_usual(uint32_t cp)
{
	char utf8[4];
	size_t n = dtx_utf8_put(utf8, cp);

	return dtx_str_find(dtx_str_of(usual_letters), (struct dtx_str){ utf8, n }, 0) >= 0;
}
