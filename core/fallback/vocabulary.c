/* Words of error messages: of dtx, Python, pandas and numpy.  One that is not here, in the plan,
 * the headers or the code may come from a cell. */
#include "core/fallback/vocabulary.h"

/* By first letter, in lower case. */
static const char *const vocabulary_words[26] = {
	"a ab abc abcd aborted about above abs absent absolute abstractmethoderror accept "
	"accepted access accessor across action active add addc added addition addn address "
	"adds after afterwards again against agg aggfunc aggregate aggregated aggregates "
	"aggregation ago agree alias aliases align aligned alignment all alloc allow allowed "
	"allows alone along alpha already also always am ambiguous ames among an anchor and "
	"anew angle angles ann another answer answered anti any anywhere apart api apostrophe "
	"appearance append apple application apply appropriate approval approve archive "
	"archives are area arena arg args argument arguments arithmetic arithmeticerror around "
	"array arrays arrow as ascend ascending ascii aside ask asked asks asof assemble assert "
	"assertionerror assign assignment assumed assumes astype at atan atomic attachment "
	"attempt attr attribute attributeconflictwarning attributeerror attributes attrs aud "
	"author authorization auto available avoid avx aware away ax axes axis axiserror",
	"back backed backfill backslash backward backwards bad base based baseexception batch "
	"bb bcller be bearer became because become becomes been before begin begins begun "
	"behavior behind being belong belongs below beside best better between beyond bigint "
	"billion bin binary bind bins bit bits blank blanks blob block blockingioerror blocks "
	"body bom book bool boolean bools boot both bottom bound boundary bounding bounds break "
	"breakpoint breaks brl broadcast broke broken brokenpipeerror bucket buckets buf buffer "
	"buffererror buffers bug build builder built but by byte bytes byteswarning bzip",
	"cache cached cad calendar calendars call callable called calls came can cancelled "
	"candidate candidates cannot canonical cap capget capital capitalize capset cardinality "
	"case cases cassette cast casts categorical categoricaldtype categoricalindex "
	"categoricals categories category cause cd cdata ce ceil cell cells century ch chain "
	"chance change changed changes char character characters check checked checking "
	"checkpoint checks checksum chf childprocesserror choice choices choose chooses "
	"circular claim clamp clash class classes clean cleaning clear clip clipboard clock "
	"clone close closed closes closing cls clx cnl cny coalesce code coder codes coerce col "
	"collate colleague collections collision colon cols column columns com comass "
	"combinations come comes comma comment comments common compare compared compares "
	"comparisons compatible compile compiled complete completed complex components compound "
	"compressed compute computed computes computing concat concatenate cond condition "
	"conditional config conflicts connectionabortederror connectionerror "
	"connectionrefusederror connectionreseterror const constant construct constructor "
	"consts contain container containers containing contains content context continue "
	"contract control controls conversion convert converted convertible converting coo "
	"copies copy core corrected correlation cosine could count counted counts covariance "
	"cover cp cpu cr crashed create crlf cross crosstab csv ctypes ctypeslib cum cumcount "
	"cur currency current currently cut cuts cylinder cython czk",
	"d damaged dash dashes data database dataerror dataframe dataframes dataset datasource "
	"date dateparseerror dates datetime datetimeindex datetimelike datetimes "
	"datetimetzdtype day days dc dd decide decides decimal decimals declaration declare "
	"declared declares decoded deep deeper deeply def default define defined defines "
	"definition degrees del delete delim delimiter delimiters delivered denies dense depend "
	"dependence deprecated deprecationwarning depth derive descending describe described "
	"descriptor descriptors detected determine dev deviation deviations df diags dialect "
	"dict dictionary did died diff differ difference different differently digit digits "
	"digraph dim dimension dimensional dimensions direction directions directory disable "
	"disclose disclosed distance distinct div divide divides division divisionbyzero "
	"divisions dkk do doctor doctype document doe does domain don done double doubled "
	"doubles down draft draw drawn drop dropna dropped dropping drops dst dt dtx dtype "
	"dtypes duckdb dummies dummy dumpable duplicate duplicated duplicates dups duration "
	"during dx",
	"each earlier early east easy ebu edge edges ee either element elements ellipsis else "
	"elsewhere emit empties empty enc enclose encode encoding encodingwarning encrypted end "
	"ended endian ends energies engine english enlarge enough entities entity entries "
	"entropy entry enum env environmenterror eof eoferror eol epoch eq equal equality "
	"equally equals equivalent err errlist error errors escape escaped escapes eur eval "
	"evaluated even every everything evidence exact exactly example exceed exceeded exceeds "
	"excel excelfile excelwriter except exception excess exclude exec exist existing exists "
	"exit expand expect expected expecting expects explain explains explicitly explode "
	"exponent exponentially export expr expression expressions extension extensionarray "
	"extra extract extremes",
	"fabs fail failed fails fall fallback false families far farthest fast faster fault "
	"feather features feb fenced few fewer fewest fffd field fields file fileexistserror "
	"filenotfounderror files fill filled filling fills filter filters final find findall "
	"finding finds fine finer fingerprint finish finite first fiscal fit fits fix fixed "
	"flag flags flat flatten float floating floatingpointerror floats floor floordiv fn "
	"folded folder follow followed following follows fontname footnotes for forbid forbids "
	"forces forgot fork form format formats formatter forms formula formulas forward found "
	"four fr frac fraction fractions frame free freexl freq frequency frequent fridays from "
	"fromfile fromisocalendar fromisoformat fromregex fromutc front full fullmatch func "
	"function functions functools future futurewarning fwf",
	"gaps gather gave gbp gbq ge genfromtxt geometric get getrandom gets gib github give "
	"given gives global go goes gone got goto gr grand greater greatest grid grids group "
	"groupby groupdict grouper grouping groups grow grows growth gt guess guessed guest "
	"gzip",
	"had half halflife halves hand handle handled hangs harm harmonic has hash hashable "
	"have having hdf hdfstore head header headers held here hex hexadecimal hh hi hidden "
	"hidepid hierarchical high hint hit hkd hold holding holds home host hostile hour hours "
	"how however html http https huf hyphens",
	"i iat icl iconv id ids ields if ignore ignored illegalmontherror iloc ils implement "
	"implementation implemented implies implode imply import importerror imports "
	"importwarning in include including inclusive incompatible incompatiblefrequency "
	"incomplete inconsistent incremental indentation indentationerror indented index "
	"indexer indexerror indexers indexing indicator indices inf infer inferred infinities "
	"infinity inflate inflates init inline inlined inner inplace input inputs inr insert "
	"inside inspect install installed instance instances instant instead instr instruction "
	"int intcastingnanerror integer integers integral internal interpolation interpreter "
	"interruptederror interval intervalarray intervaldtype intervalindex into ints invalid "
	"invalidindexerror invalidoperation inverse invert ioerror irregular is "
	"isadirectoryerror isdigit isin isinstance iso isoformat issues it italy item items "
	"iterable iteration iteritems itertools itertuples its itself",
	"jail jan jaro jl jmorsel job join joined joining joins journal jpy jrows jscan json "
	"jsondecodeerror jsonl jturn julian jvalue jwalk",
	"karl keep keeps kendall kept kernel key keyerror keys keyword kib kin kind kinds "
	"kitten kleene know known knows kr krw kurtosis kwargs",
	"label labels lacks lag laid lambda lan landlock language large larger largest last "
	"late later latex latin launch layer layers layout lays le lead leading lease least "
	"leave leaves ledger left leftmost len length lengths lenient less letter letters level "
	"levels levenshtein lex lexsort lf libcsv libcurl library lies like likeness likes "
	"limit limits linalgerror line linear lines linux list listed lists lit literal "
	"literals little live ljust lo load loadtxt loc local localhost localize location lock "
	"locked log logarithm long longer look looked looks lookup lookuperror loop lose low "
	"lower lr lsm lt ltrim lx",
	"machine made main make makes making malformed manager many map mapped mapping mappings "
	"maps mar margins marhta mark markdown marks martha mask masked match matched matches "
	"matching math max maxima maximum may maybe mb md mean means meant median meet meets "
	"melt mem member members memchr memcmp memcpy memfd memmap memmem memory memoryerror "
	"mend merge merged mergeerror message method mib microsecond microseconds mid middle "
	"midnight milliseconds min minima minimum minute minutes misbehave mismatch mismatched "
	"missing mixed mixes mm mmap mo mod mode model module modulenotfounderror modulo moment "
	"monday mondays monospace monotonic month months more morsel most mount move moved "
	"moves ms mul muller multi multiindex multiple multiply must mutex mxn my",
	"na naive name named nameerror names namespace namespaces nan nanosecond narrower "
	"narrowest nat nattr natural nbatches nbsp ncells ncols ndarray ndim ne near nearer "
	"nearest need needs negative neighbour neighbours neil neither nested nests net nettle "
	"network never new newaxis newest newline newlines next nfc nfd nfields nfkc nfkd "
	"ninputs nmorsels no nobody node nofile nok non none nor normal normalisation normalize "
	"not notadirectoryerror note notes nothing notimplementederror nouts now nowhere np npy "
	"nrows ns nsel nsrc nth ntotals nul null nullable nullif nullify nulls numba number "
	"numbered numbers numeric numexpr numpy ny nzd",
	"obj object objects occur occurrence occurs octal odd of off office offset often ok old "
	"older on once one ones only op opctx open opendocument opening opens operand operands "
	"operation operations operator operators ops option options opts or orc order ordered "
	"orders ordinary org orient origin oserror other others otherwise out outer outfile "
	"outlier outliers outlook outofboundsdatetime outofboundstimedelta output outputs "
	"outside over overall overflow overflowerror overlap overlapping override overwritten "
	"own owner ox",
	"pack package packages packed pad pads page pair pairs pandas paper param parameter "
	"parameters params parent parenthesis parquet parse parser parsererror part parted "
	"partition parts pass passed passes passing password patched path paths pattern "
	"patterns pct pd pearson peek peers pendingdeprecationwarning people pep per percent "
	"perform perhaps period periodarray perioddtype periodindex periods permissionerror "
	"permissions permutation physical pi pick pickle pickles pidfd piece pieces pipe "
	"pipeline pivot place places plain plan plans please pln pm point pointer points policy "
	"poll pop population pos position positional positive possible pow power powerpoint "
	"pragma prctl pre precision prefix prep prepare present presentation preserve previous "
	"print printed printf private probe proc process processes processlookuperror product "
	"products program progress promote prompt property protocol proved provenance provide "
	"provided pthread ptr ptrdiff punct punctuation purged push put py pyarrow python",
	"qualify quantile quantiles quarantine quarantined quarter quarters quartile quartiles "
	"query quite quote quoted quotes",
	"radians ragged raise raised ran rand randint randn random randomness randomstate range "
	"ranges rank rankdir ranked ranks rar rare ratio ratios raw rc re reached read readable "
	"reader readers reading reads ready real really reason rec received recency record "
	"recorded records rectangular recursion recursionerror red redact redirects reduce "
	"reduction ref refer reference referenced referenceerror references refused refuses "
	"regex region reindex reindexing rejects relationship relationships relative remake "
	"remove removed rename renamed render reorder repair repeat repeated repeats replace "
	"replaced replacement replaces reply report reported request requested require required "
	"requires resample reserve reset resourcewarning rest restart result results return "
	"returned returns reviewer revoked right rng roe roll rolling rome room root round "
	"rounded rounds row rowcursor rowid rows rtrim rub rule rules run running runs "
	"runtimeerror runtimewarning",
	"s safe said sales same sample sampled samples sandboxes sanitizer sanitizers sas "
	"satisfy saturday save savetxt savez saw say says sb scalar scale scaled scales scan "
	"schema schubfach score scratch screen sd sealed search seccomp second seconds section "
	"sections sectors see seed seeds seen sek sel select selector self semi sense sent "
	"sentinel sep separator seq sequence serial series server set setitem sets setting "
	"several severity sgd sh sha shake shape shapes share shared shares sheet sheets shift "
	"short shorter should show shown shows shuffle si side sides sig sigma sign signal "
	"signs since sine single sitting six size sizeof sizes skewness skip skipped skx slice "
	"slices slicing slope small smaller smallest smith sniff sniffed snippet snippets so "
	"socket socketpair soffice soft some something somewhere sort sorted sound soundex "
	"source space spaces span spanbuf spare sparse sparsedtype spearman spec special "
	"specific specificationerror specified specifier specify specifying spill spilled split "
	"splitmix splits spool spread spreadsheet spss sql sqlite square squeeze src ss stable "
	"stand standard stands start started starts stat stata state static statistics "
	"statisticserror stats status stay stays std stdout steal step steps still "
	"stopasynciteration stopiteration stopped stops store stored str strategy stray strchr "
	"strcmp stream streams strict string stringarray strings strip strlen strmap struct "
	"structures style styles sub subclass subpattern subscriptable subset substr subtitle "
	"subtotal subtract subtype subtypes such suffix suffixes sum summary sums sunday "
	"supplied supply support supported supports swap switch symbol sync synchronous syntax "
	"syntaxerror syntaxwarning synthetic sysctl system systemerror",
	"t taberror table tableagg tablekeys tables tabs tag tags tail take taken takes taking "
	"tangent target task tell tells temp temporary test text texts th than that the their "
	"theirs them then there these they third this those thread threads three threshold tib "
	"ticks tidy tie time timedelta timedeltaindex timeout timeouterror times timestamp "
	"timezone timezones title titles tk tmpdir to today tofile together token tokens told "
	"tolerance too took tool top total totals toward town transform transforms translation "
	"transport transpose tries trigger trim trimmed true trunc truncate trust trusted truth "
	"try trying tuple tuples turn turned twice twin two tx txt typ type typed typeerror "
	"typeref types typographic tz tzinfo tzname",
	"ufunctypeerror uid uint umbers unable unbound unboundlocalerror unchanged "
	"undefinedvariableerror under understood undo undoes undone unequal unescape unexpected "
	"unhashable unicode unicodedata unicodedecodeerror unicodeencodeerror unicodeerror "
	"unicodetranslateerror unicodewarning uniform unindent union unique unit units unix "
	"unknown unless unlock unmatched unmerge unpack unpickling unprivileged unquote "
	"unrecognized unref unseeded unsigned unsupported unsupportedfunctioncall unterminated "
	"until unusual unwrap up update upper url us usd use used user userns userwarning uses "
	"using usual utc utcnow utcoffset utf uvre",
	"vacuum valid validity value valued valueerror values variable variables variance "
	"variant variants vars verdict version versions very view views visible void volumes "
	"vote votes vs",
	"waits wal walk walks wall want wanted wants warn warning was watch way week weeks "
	"weighted weights well went were what whatever when where whether which while who whole "
	"whose wide widen widens wider width widths will win window windows winkler wins wire "
	"with within without word words work workbook workbooks workdays worker works worksheet "
	"worse would wrap wrapped write writer writes writing written wrong wrote ws",
	"xbf xd xe xfd xfffe xlsb xlsx xml xxhash",
	"year years yes yet you yy yyyy",
	"zalloc zar zero zerodivisionerror zip zone zones zstd zygote",
};

static bool vocabulary_is(struct dtx_str word, struct dtx_str known)
{
	size_t i;

	for (i = 0; i < word.len && word.len == known.len; i++) {
		if ((word.ptr[i] | 0x20) != known.ptr[i])
			return false;
	}
	return word.len == known.len;
}

bool dtx_vocabulary_has(struct dtx_str word)
{
	unsigned letter = word.len ? (unsigned)((word.ptr[0] | 0x20) - 'a') : 26;
	struct dtx_str rest, known;

	if (letter >= DTX_COUNT(vocabulary_words))
		return false;
	rest = dtx_str_of(vocabulary_words[letter]);
	while (dtx_str_next(&rest, ' ', &known)) {
		if (vocabulary_is(word, known))
			return true;
	}
	return false;
}
