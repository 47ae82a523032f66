"""Text files of further kinds that people have, for dirty_csv.py: the bytes, and the table that a person
reads in them."""

HEAD = ["id", "name", "n"]
PAIRED = [["1", '"Ann', "5"], ["2", "Bob", "6"], ["3", 'Eve"', "7"], ["4", "Li", "8"]]
MANY = [[str(i), "name%d" % i, str(i * 7)] for i in range(3000)]
STRAY = [row[:] for row in MANY]
STRAY[2100][1], STRAY[2200][1] = '"name2100', 'name2200"'


def lines(rows, sep=","):
    return "".join(sep.join(r) + "\n" for r in rows)


CASES = {
    "two quotes that pair up over lines": (lines([HEAD] + PAIRED), HEAD, PAIRED),
    "... far below": (lines([HEAD] + STRAY), HEAD, STRAY),
    "... between semicolons": (lines([HEAD] + PAIRED, ";"), HEAD, PAIRED),
    "... with CRLF": (lines([HEAD] + PAIRED).replace("\n", "\r\n"), HEAD, PAIRED),
    "... at line ends": ('id,n,name\n1,5,"Ann\n2,6,Bob"\n3,7,Eve\n', ["id", "n", "name"],
                         [["1", "5", '"Ann'], ["2", "6", 'Bob"'], ["3", "7", "Eve"]]),
    "... beside quoted cells": (lines([HEAD] + PAIRED) + '5,"Li, Lo",9\n6,"x\ny",1\n', HEAD,
                                PAIRED + [["5", "Li, Lo", "9"], ["6", "x\ny", "1"]]),
    "... twice": (lines([HEAD] + PAIRED * 2), HEAD, PAIRED * 2),
    "... between texts": ('a,b,c\nx,"Ann,p\ny,Bob,q\nz,Eve",r\nw,Li,s\n', ["a", "b", "c"],
                          [["x", '"Ann', "p"], ["y", "Bob", "q"], ["z", 'Eve"', "r"], ["w", "Li", "s"]]),
    "... out of the header": ('id,"name,n\n1,Ann,5\n2,Bob",6\n3,Eve,7\n', ["id", '"name', "n"],
                              [["1", "Ann", "5"], ["2", 'Bob"', "6"], ["3", "Eve", "7"]]),
    "... before a cell of two lines": ('id,a,b\n1,"x,5\n2,y,6\n3,z","p\nq"\n4,w,7\n', ["id", "a", "b"],
                                       [["1", '"x', "5"], ["2", "y", "6"], ["3", 'z"', "p\nq"], ["4", "w", "7"]]),
    "one quote that opens between a mark and others": (
        "id\tname\tcity\n1\t\"Ann B C\tRome\n2\tBob\t\"Oslo\"\n3\tEve\tBern\n", ["id", "name", "city"],
        [["1", '"Ann B C', "Rome"], ["2", "Bob", "Oslo"], ["3", "Eve", "Bern"]]),
    "two columns and two quotes that pair up": ('k,v\n1,"a\n2,b"\n3,c\n', ["k", "v"], [["1", '"a'], ["2", 'b"'], ["3", "c"]]),
    "an address in two lines": ('name,address,city\nAnn,"12 High St, Flat 2\nOxford, UK",London\nBob,x,y\n',
                                ["name", "address", "city"],
                                [["Ann", "12 High St, Flat 2\nOxford, UK", "London"], ["Bob", "x", "y"]]),
    "a numbered list in a cell": ('id,list\n17,"to buy:\n1, milk\n2, eggs"\n18,x\n', ["id", "list"],
                                  [["17", "to buy:\n1, milk\n2, eggs"], ["18", "x"]]),
    "rows of another table in a cell": ('id,doc\n1,"a,b\n1,2\n3,4"\n2,x\n', ["id", "doc"], [["1", "a,b\n1,2\n3,4"], ["2", "x"]]),
}

ROWS = [["1", "Ann", "5"], ["2", "Bob", "6"], ["3", "Eve", "7"]]
TABLE = lines([HEAD] + ROWS)
SQL = ["column_1", "column_2", "column_3"]
CASES.update({
    "paths that begin with n": ("path,n\nC:\\new,1\nD:\\nil,2\n", ["path", "n"], [["C:\\new", "1"], ["D:\\nil", "2"]]),
    "vertical tabs": (TABLE.replace(",", "\v"), HEAD, ROWS),
    "blanks that do not break": (TABLE.replace(",", "\u00a0"), HEAD, ROWS),
    "such blanks between thousands": ("prix\n1\u00a0234\u00a0567\n2\u00a0345\u00a0678\n3\u00a0345\u00a0678\n", ["prix"],
                                      [["1\u00a0234\u00a0567"], ["2\u00a0345\u00a0678"], ["3\u00a0345\u00a0678"]]),
    "dates in one column": ("date\n01/02/2024\n02/02/2024\n03/02/2024\n", ["date"], [["01/02/2024"], ["02/02/2024"],
                                                                                     ["03/02/2024"]]),
    "paths in one column": ("a/b/c\nd/e/f\ng/h/i\nj/k/l\n", ["a/b/c"], [["d/e/f"], ["g/h/i"], ["j/k/l"]]),
    "names of runs in one column": ("sample_run_id\nab_cd_1\nab_cd_2\nef_gh_3\n", ["sample_run_id"],
                                    [["ab_cd_1"], ["ab_cd_2"], ["ef_gh_3"]]),
})
CASES.update({"the delimiter " + mark: (TABLE.replace(",", mark), HEAD, ROWS) for mark in "/%=+_\\$"})

PDH = ["(PDH-CSV 4.0)", "\\\\HOST\\Processor(_Total)\\% Processor Time"]
LVM = "LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\nDate\t2024/01/05\n***End_of_Header***\t\n\t\n"
SEGMENT = "Channels\t2\t\t\nSamples\t2\t2\t\nX0\t0.0\t0.0\t\nDelta_X\t0.1\t0.1\t\n***End_of_Header***\t\t\t\n"
SIGNAL = ["X_Value", "Voltage", "Voltage_0", "Comment"]
TOA = ["TIMESTAMP", "RECORD", "BattV_Min", "AirTC_Avg"]
CASES.update({
    "what a counter says at its end": (
        '\r\n"%s","%s"\r\n"01/02/2024 10:00:00.123","1.5"\r\n"01/02/2024 10:00:01.123","2.5"\r\n\r\nExiting, please wait...  '
        "                       \r\nThe command completed successfully.\r\n\r\n" % tuple(PDH), PDH,
        [["01/02/2024 10:00:00.123", "1.5"], ["01/02/2024 10:00:01.123", "2.5"]]),
})


def coded(encoding, *rows):
    return lines(rows).encode(encoding), list(rows[0]), [list(r) for r in rows[1:]]


LATVIA = ["id", "vārds", "pilsēta"], ["1", "Jānis Bērziņš", "Rīga"], ["2", "Ilze Kalniņa", "Jūrmala"], ["3", "Līga Ozoliņa", "Rēzekne"]
HUNGARY = ["id", "név", "város"], ["1", "Tóth Gábor", "Győr"], ["2", "Szűcs Éva", "Pécs"], ["3", "Horváth Ödön", "Petőfi utca"]
CASES.update({
    "Latvian in " + name: coded(name, *LATVIA) for name in ("cp1257", "iso8859_13", "iso8859_4", "cp775")})
CASES.update({"Hungarian in " + name: coded(name, *HUNGARY) for name in ("cp1250", "iso8859_2", "cp852")})
CASES.update({
    "Lithuanian in iso-8859-4": coded("iso8859_4", ["id", "vardas", "miestas"], ["1", "Jonas Žukauskas", "Panevėžys"],
                                      ["2", "Rūta", "Šilutė"]),
    "only blanks that do not break, in windows-1252": (TABLE.replace(",", "\u00a0").encode("cp1252"), HEAD, ROWS),
    "only one letter of cp850": coded("cp850", ["id", "ciudad"], ["1", "Málaga"], ["2", "Bogotá"], ["3", "Cáceres"]),
})


# Of kinds that people have: banks, offices, instruments, databases.
CASES["one word of French between bars"] = (
    ('JournalCode|JournalLib|EcritureNum|EcritureDate|Debit|Credit\nAC|Achats|1|20240102|100,00|0,00\n'
    "VE|Ventes|2|20240103|0,00|250,50\nBQ|Banque d'été|3|20240104|0,00|1,00\n").encode("cp1252"),
    ['JournalCode', 'JournalLib', 'EcritureNum', 'EcritureDate', 'Debit', 'Credit'],
    [['AC', 'Achats', '1', '20240102', '100,00', '0,00'],
     ['VE', 'Ventes', '2', '20240103', '0,00', '250,50'],
     ['BQ', "Banque d'été", '3', '20240104', '0,00', '1,00']])
CASES["comments and two tables"] = (
    ('# ----------------------------------------\n# All Web Site Data\n# Pages\n# 20240101-20240131\n'
    '# ----------------------------------------\n\nPage,Pageviews,Bounce Rate\n/index.html,"1,000",45.00%\n'
    '/a?x=1,20,5.00%\n,"1,020",44.20%\n\nDay Index,Pageviews\n1/1/24,30\n1/2/24,31\n'),
    ['Page', 'Pageviews', 'Bounce Rate'],
    [['/index.html', '1,000', '45.00%'], ['/a?x=1', '20', '5.00%'], ['', '1,020', '44.20%']])
CASES["a span of dates above the names"] = (
    ('Campaign report\nJanuary 1, 2024 - January 31, 2024\nCampaign,Impr.,Clicks,CTR,Cost\n'
    '"Brand, exact","1,234",56,4.54%,"1,000.50"\nGeneric,789,1,0.13%,2.00\n'
    'Total: Account,"2,023",57,2.82%,"1,002.50"\n'),
    ['Campaign', 'Impr.', 'Clicks', 'CTR', 'Cost'],
    [['Brand, exact', '1,234', '56', '4.54%', '1,000.50'],
     ['Generic', '789', '1', '0.13%', '2.00'],
     ['Total: Account', '2,023', '57', '2.82%', '1,002.50']])
CASES["a heading below the names"] = (
    ('My Company,,,\nProfit and Loss,,,\n"January 1 - March 31, 2024",,,\n,,,\n,Jan 2024,Feb 2024,Total\nIncome,,,\n'
    '   Sales,"1,000.00",500.00,"1,500.00"\n   Services,200.00,,200.00\n'
    'Total Income,"$1,200.00",$500.00,"$1,700.00"\nNet Income,"$1,200.00",$500.00,"$1,700.00"\n,,,\n,,,\n'
    '"Thursday, Feb 01, 2024 10:00:00 AM GMT-8 - Accrual Basis",,,\n'),
    ['column_1', 'Jan 2024', 'Feb 2024', 'Total'],
    [['Income', '', '', ''],
     ['   Sales', '1,000.00', '500.00', '1,500.00'],
     ['   Services', '200.00', '', '200.00'],
     ['Total Income', '$1,200.00', '$500.00', '$1,700.00'],
     ['Net Income', '$1,200.00', '$500.00', '$1,700.00']])
CASES["lines of an account with amounts above the names"] = (
    ('Umsätze Girokonto;;;;Kundennummer: 123 4567890\n01.01.2024 - 31.01.2024\nLetzter Kontostand;;;;1.000,00;EUR\n'
    'Vorgemerkte und noch nicht gebuchte Umsätze sind nicht Bestandteil dieser Übersicht.\n'
    'Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Soll;Haben\n'
    '02.01.2024;02.01.2024;SEPA-Lastschrift;Stadtwerke;-45,90;\n03.01.2024;03.01.2024;Gehalt;Firma AG;;2.100,00\n'
    '04.01.2024;04.01.2024;Kartenzahlung;REWE;-20,00;\nKontostand;31.01.2024;;;3.034,10;EUR\n').encode("cp1252"),
    ['Buchungstag', 'Wert', 'Umsatzart', 'Begünstigter / Auftraggeber', 'Soll', 'Haben'],
    [['02.01.2024', '02.01.2024', 'SEPA-Lastschrift', 'Stadtwerke', '-45,90', ''],
     ['03.01.2024', '03.01.2024', 'Gehalt', 'Firma AG', '', '2.100,00'],
     ['04.01.2024', '04.01.2024', 'Kartenzahlung', 'REWE', '-20,00', ''],
     ['Kontostand', '31.01.2024', '', '', '3.034,10', 'EUR']])
CASES["settings of an instrument above a plate"] = (
    ('Application: Tecan i-control,,,\nDevice: infinite 200Pro,,,\n,,,\nMode,Absorbance,,\nWavelength,600,nm,\n,,,\n'
    '<>,1,2,3\nA,0.051,0.052,0.053\nB,0.061,0.062,0.063\nC,0.071,0.072,0.073\n'),
    ['<>', '1', '2', '3'],
    [['A', '0.051', '0.052', '0.053'], ['B', '0.061', '0.062', '0.063'], ['C', '0.071', '0.072', '0.073']])
CASES["a backslash before a line end"] = (
    ('1\tAnn\tfirst\\\nsecond\t5\n2\tBob\t\\N\t6\n3\tEve\tx\t7\n'),
    ['column_1', 'column_2', 'column_3', 'column_4'],
    [['1', 'Ann', 'first\nsecond', '5'], ['2', 'Bob', '\\N', '6'], ['3', 'Eve', 'x', '7']])
CASES["names with marks of comments"] = (
    ('\ufeffmBank S.A. Bankowość Detaliczna;\nSkrytka Pocztowa 2108;\n90-959 Łódź 2;\nwww.mBank.pl;\n\n#Klient;\n'
    'ANNA KOWALSKA;\n\n#Za okres:;\n01.01.2024;31.01.2024;\n\n'
    '#Data operacji;#Opis operacji;#Rachunek;#Kategoria;#Kwota;\n'
    '2024-01-31;"ŻABKA  Z1234";"eKonto 1111";"Żywność";-12,50 PLN;;\n'
    '2024-01-30;"PRZELEW";"eKonto 1111";"Wpływy";2 000,00 PLN;;\n'),
    ['#Data operacji', '#Opis operacji', '#Rachunek', '#Kategoria', '#Kwota'],
    [['2024-01-31', 'ŻABKA  Z1234', 'eKonto 1111', 'Żywność', '-12,50 PLN'],
     ['2024-01-30', 'PRZELEW', 'eKonto 1111', 'Wpływy', '2 000,00 PLN']])
CASES["strings in quotes between tabs"] = (
    ('"make"\t"price"\t"mpg"\t"foreign"\n"AMC Concord"\t4099\t22\t"Domestic"\n"Audi 5000"\t9690\t17\t"Foreign"\n'
    '"VW Rabbit"\t4697\t.\t"Foreign"\n'),
    ['make', 'price', 'mpg', 'foreign'],
    [['AMC Concord', '4099', '22', 'Domestic'],
     ['Audi 5000', '9690', '17', 'Foreign'],
     ['VW Rabbit', '4697', '.', 'Foreign']])
CASES["equal names and lines in a cell"] = (
    ('Summary,Issue key,Issue id,Sprint,Sprint,Description\n"Fix, it",AB-1,10001,S1,S2,"Steps:\n1. open\n'
    '2. close, wait\n\n{code}a,b{code}"\nDo that,AB-2,10002,,S2,\n'),
    ['Summary', 'Issue key', 'Issue id', 'Sprint', 'Sprint_2', 'Description'],
    [['Fix, it', 'AB-1', '10001', 'S1', 'S2', 'Steps:\n1. open\n2. close, wait\n\n{code}a,b{code}'],
     ['Do that', 'AB-2', '10002', '', 'S2', '']])
CASES["remarks in quotes below"] = (
    ('"Account Name","Amount","Close Date"\n"Acme, Inc.","1,000.00","1/31/2024"\n"Bolt","250.50","2/1/2024"\n'
    '"Coil","1.00","2/2/2024"\n"Dome","2.00","2/2/2024"\n"Edge","3.00","2/3/2024"\n\n\n'
    '"Q1 report"\n"Copyright (c) 2000-2024 salesforce.com, inc. All rights reserved."\n'
    '"Confidential Information - Do Not Distribute"\n"Generated By: Ann Lee 2/1/2024 10:00 AM"\n"Acme Corp"\n'),
    ['Account Name', 'Amount', 'Close Date'],
    [['Acme, Inc.', '1,000.00', '1/31/2024'], ['Bolt', '250.50', '2/1/2024'], ['Coil', '1.00', '2/2/2024'],
     ['Dome', '2.00', '2/2/2024'], ['Edge', '3.00', '2/3/2024']])
CASES["a question over several columns"] = (
    ('Respondent ID,Collector ID,Which do you use?,,,Comments\n'
    ',,Excel,R,Other (please specify),Open-Ended Response\n111,5,Excel,,,"fine, ok"\n112,5,,R,SAS,\n'),
    ['Respondent ID',
     'Collector ID',
     'Which do you use? Excel',
     'Which do you use? R',
     'Which do you use? Other (please specify)',
     'Comments Open-Ended Response'],
    [['111', '5', 'Excel', '', '', 'fine, ok'], ['112', '5', '', 'R', 'SAS', '']])
CASES["filters below"] = (
    ('Country,Sales,Share\nGermany,"1,234.5",0.5\nFrance,100,0.3\n\nApplied filters:\nYear is 2024\n'
    'Region is not Asia\n'),
    ['Country', 'Sales', 'Share'],
    [['Germany', '1,234.5', '0.5'], ['France', '100', '0.3']])
CASES["a log that begins again"] = (
    ('#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2024-01-31 00:00:00\n'
    '#Fields: date time cs-method cs-uri-stem sc-status time-taken\n2024-01-31 00:00:01 GET /a 200 15\n'
    '2024-01-31 00:00:02 POST /b 500 120\n#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n'
    '#Date: 2024-01-31 01:00:00\n#Fields: date time cs-method cs-uri-stem sc-status time-taken\n'
    '2024-01-31 01:00:02 GET /c 404 3\n'),
    ['date', 'time', 'cs-method', 'cs-uri-stem', 'sc-status', 'time-taken'],
    [['2024-01-31', '00:00:01', 'GET', '/a', '200', '15'],
     ['2024-01-31', '00:00:02', 'POST', '/b', '500', '120'],
     ['2024-01-31', '01:00:02', 'GET', '/c', '404', '3']])
CASES["a delimiter too many in each row"] = (
    ('Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n'
    'DEBIT,01/31/2024,"AMAZON.COM*1A2 AMZN.COM/BILL WA",-23.99,DEBIT_CARD,1000.01,,\n'
    'CREDIT,01/30/2024,"PAYROLL",2000.00,ACH_CREDIT,1024.00,,\n'),
    ['Details', 'Posting Date', 'Description', 'Amount', 'Type', 'Balance', 'Check or Slip #'],
    [['DEBIT', '01/31/2024', 'AMAZON.COM*1A2 AMZN.COM/BILL WA', '-23.99', 'DEBIT_CARD', '1000.01', ''],
     ['CREDIT', '01/30/2024', 'PAYROLL', '2000.00', 'ACH_CREDIT', '1024.00', '']])
CASES["units behind values and blanks"] = (
    ('timestamp, name, utilization.gpu [%], memory.used [MiB]\n'
    '2024/01/31 10:00:00.123, NVIDIA A100, 55 %, 1024 MiB\n2024/01/31 10:00:01.123, NVIDIA A100, 60 %, 1025 MiB\n'),
    ['timestamp', 'name', 'utilization.gpu [%]', 'memory.used [MiB]'],
    [['2024/01/31 10:00:00.123', 'NVIDIA A100', '55 %', '1024 MiB'],
     ['2024/01/31 10:00:01.123', 'NVIDIA A100', '60 %', '1025 MiB']])
CASES.update({
    "bars inside of cells between tabs": ("a\tb|c\n1\t2|3\n4\t5|6\n", ["a", "b|c"], [["1", "2|3"], ["4", "5|6"]]),
    "a last row wider than all others": ("a,b\n1,2\n3,4\n5,6,7,8\n", ["a", "b", "column_3", "column_4"],
                                         [["1", "2", "", ""], ["3", "4", "", ""], ["5", "6", "7", "8"]]),
    "headings between the rows": ("item,q1,q2\nFruit,,\nApple,1,2\nPear,3,4\nVeg,,\nLeek,5,6\n", ["item", "q1", "q2"],
                                  [["Fruit", "", ""], ["Apple", "1", "2"], ["Pear", "3", "4"], ["Veg", "", ""],
                                   ["Leek", "5", "6"]]),
    "lines that look like rows in a cell of another width": (
        'id,note,n\n1,"list\n2,b,3\n4,c,5",6\n2,ok,7\n', ["id", "note", "n"], [["1", "list\n2,b,3\n4,c,5", "6"], ["2", "ok", "7"]]),
})
