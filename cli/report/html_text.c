/* Text, tables and the style sheet of the report. */
#include "cli/report/html.h"

#include <string.h>

#include "cli/out.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"

void dtx_html_textn(struct dtx_buf *out, const char *text, size_t len)
{
	size_t pos = 0;
	char utf8[4];

	while (pos < len) {
		uint32_t cp = dtx_utf8_next(text, len, &pos);

		if (cp == '&')
			dtx_buf_add(out, "&amp;");
		else if (cp == '<')
			dtx_buf_add(out, "&lt;");
		else if (cp == '>')
			dtx_buf_add(out, "&gt;");
		else if (cp == '"')
			dtx_buf_add(out, "&quot;");
		else if (cp == '\'')
			dtx_buf_add(out, "&#39;");
		else if (dtx_utf8_hides(cp) && cp != '\n' && cp != '\t')
			dtx_buf_printf(out, "\\u%04x", (unsigned)cp);
		else
			dtx_buf_addn(out, utf8, dtx_utf8_put(utf8, cp));
	}
}

void dtx_html_text(struct dtx_buf *out, const char *text)
{
	dtx_html_textn(out, text, strlen(text));
}

void dtx_html_cell(struct dtx_buf *out, const char *text)
{
	dtx_buf_add(out, "<td>");
	dtx_html_text(out, text ? text : "");
	dtx_buf_add(out, "</td>");
}

void dtx_html_number(struct dtx_buf *out, const char *tag, int64_t n)
{
	char text[DTX_NUM_TEXT];

	dtx_num_print_grouped(text, n);
	dtx_buf_printf(out, "<%s class=\"n\">%s</%s>", tag, text, tag);
}

void dtx_html_table(struct dtx_buf *out, const char *caption, const char *const *head, size_t n)
{
	size_t i;

	/* A table needs a name for screen readers: without a caption, the names of its columns. */
	dtx_buf_add(out, "<div class=\"wide\"><table");
	for (i = 0; !caption && i < n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : " aria-label=\"", head[i]);
	dtx_buf_add(out, caption ? ">" : "\">");
	if (caption) {
		dtx_buf_add(out, "<caption>");
		dtx_html_text(out, caption);
		dtx_buf_add(out, "</caption>");
	}
	dtx_buf_add(out, "<thead><tr>");
	for (i = 0; i < n; i++)
		dtx_buf_printf(out, "<th scope=\"col\">%s</th>", head[i]);
	dtx_buf_add(out, "</tr></thead><tbody>\n");
}

void dtx_html_end(struct dtx_buf *out)
{
	dtx_buf_add(out, "</tbody></table></div>\n");
}

/* The contrast of text is at least 4.5 to 1 in both color schemes. */
const char dtx_html_style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;"
	"--soft:#f4f6f8;--in:#0b5cad;--step:#3f4a56;--snip:#8a3b00;--out:#116329;--bar:#0b5cad;"
	"--bad:#a40e26}\n"
	"@media screen and "
	"(prefers-color-scheme:dark){:root{--bg:#0f1318;--fg:#e6edf3;--dim:#9aa7b4;"
	"--line:#39424d;--soft:#181e25;--in:#79b8ff;--step:#b6c2cf;--snip:#ffab70;--out:#7ee787;"
	"--bar:#4a90d9;--bad:#ff8f8f}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:62rem;background:var(--bg);"
	"color:var(--fg);font:15px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif;"
	"overflow-wrap:break-word}\n"
	"h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2.2rem 0 .6rem;"
	"padding-bottom:.25rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.2rem "
	"0 .4rem}\n"
	"figure{margin:.6rem 0}p,ul,ol{margin:.4rem "
	"0}.dim{color:var(--dim)}.bad{color:var(--bad);font-weight:600}\n"
	".ok{color:var(--out);font-weight:600}\n"
	"nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1rem}\n"
	"a{color:var(--in)}:focus-visible{outline:3px solid var(--in);outline-offset:2px}\n"
	".skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;padding:.3rem .6rem;"
	"background:var(--bg)}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;margin:.4rem 0}\n"
	"caption{text-align:left;color:var(--dim);padding:.2rem 0}\n"
	"th,td{text-align:left;vertical-align:top;padding:.3rem .7rem .3rem 0;border-bottom:1px "
	"solid var(--line)}th[scope=row]{white-space:nowrap}thead "
	"th{color:var(--dim);font-weight:600}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"code,pre,.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
	"font-size:.86em}\n"
	".code td{border:0;padding:0 .6rem 0 0;white-space:pre-wrap}.code td:first-child{color:"
	"var(--dim);text-align:right;user-select:none;width:3rem}.code tr:target{background:"
	"var(--soft)}\n"
	".code tr.mark td:first-child::before{content:\"\\25B6 \";color:var(--snip)}\n"
	"svg{display:block;max-width:100%;height:auto}svg text{fill:var(--fg);font:12px "
	"system-ui,sans-serif}svg .sub{fill:var(--dim);font-size:11px}\n"
	"svg rect{fill:var(--soft);stroke-width:1.5}svg .in{stroke:var(--in)}svg "
	".step{stroke:var(--step)}svg .snippet{stroke:var(--snip);stroke-dasharray:5 3}svg "
	".out{stroke:var(--out)}svg path{fill:none;stroke:var(--dim);stroke-width:1.3}svg "
	".bar{fill:var(--bar);stroke:none}svg .tip{fill:var(--dim);stroke:none}\n"
	"svg.profile{max-width:11.5rem}td code{overflow-wrap:anywhere}"
	"details>summary{cursor:pointer}\n"
	/* On a narrow page words may break, and lists replace pictures, which would become too
         * small. */
	"@media screen and (max-width:40rem){body{padding:1rem .75rem}th,td,code,p{overflow-wrap:"
	"anywhere}th,td{padding-right:.4rem;font-size:.86rem}th[scope=row]{white-space:normal}"
	"th,td{min-width:3.9rem}th[scope=row]{min-width:5rem}thead th{font-size:.8rem}"
	".code td{min-width:0}figure{display:none}details>*{display:block}"
	"details::details-content{content-visibility:visible;display:block;block-size:auto}"
	"details>summary{display:none}"
	"svg.profile{width:100%;min-width:3rem}}\n"
	"@media print{@page{size:A4;margin:15mm}body{max-width:none;padding:0;font-size:10.5pt}"
	"nav,.skip,.screen{display:none}section{break-inside:auto}h2,h3{break-after:avoid}tr,svg,"
	"figure{break-inside:avoid}thead{display:table-header-group}.wide{overflow:visible}"
	"details>*{display:block}details::details-content{content-visibility:visible;"
	"display:block;block-size:auto}summary{display:none}svg{max-width:100%!important}}\n";
