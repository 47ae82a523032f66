"""Text files of kinds that banks, offices, instruments and databases write, for dirty_csv.py: the
bytes, and the table that a person reads in them."""

CASES = {}


CASES["a ledger in a box of dashes"] = ((
    'Bericht: ZFI01\n\n-------------------------------------\n| Beleg  | Datum      |   Betrag |\n'
    '-------------------------------------\n| 100001 | 02.01.2024 | 1.234,50 |\n'
    '| 100002 | 03.01.2024 |   -12,00 |\n-------------------------------------\n'),
    ['Beleg', 'Datum', 'Betrag'],
    [['100001', '02.01.2024', '1.234,50'], ['100002', '03.01.2024', '-12,00']])
CASES["signs behind numbers"] = ((
    'Konto;Text;Betrag\n100000;Miete;1.200,00-\n100001;Strom;80,50-\n100002;Erlös;3.000,00\n'),
    ['Konto', 'Text', 'Betrag'],
    [['100000', 'Miete', '1.200,00-'], ['100001', 'Strom', '80,50-'], ['100002', 'Erlös', '3.000,00']])
CASES["a list with a date, a title and a blank first column"] = ((
    '01.02.2024\tDynamische Listenausgabe\t1\n\n\tMaterial\tWerk\tMenge\n\n\t4711\t1000\t5\n'
    '\t4712\t1000\t7\n\t4713\t2000\t1\n'),
    ['column_1', 'Material', 'Werk', 'Menge'],
    [['', '4711', '1000', '5'], ['', '4712', '1000', '7'], ['', '4713', '2000', '1']])
CASES["a line of control cells above the names"] = ((
    '"EXTF";700;21;"Buchungsstapel";12;20240131120000000;;"RE";"";"";1001;10001;20240101;4;20240101;20240'
    '131;"Jan"\n'
    'Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Konto;Gegenkonto;Belegdatum;Buchungste'
    'xt\n119,00;"S";"EUR";8400;10000;0201;"Rechnung 1"\n59,50;"H";"EUR";8400;10001;0301;"Rechnung; 2"\n'
    '1.200,00;"S";"EUR";4210;70000;0501;"Miete"\n'),
    ['Umsatz (ohne Soll/Haben-Kz)', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz', 'Konto', 'Gegenkonto',
     'Belegdatum', 'Buchungstext'],
    [['119,00', 'S', 'EUR', '8400', '10000', '0201', 'Rechnung 1'],
     ['59,50', 'H', 'EUR', '8400', '10001', '0301', 'Rechnung; 2'],
     ['1.200,00', 'S', 'EUR', '4210', '70000', '0501', 'Miete']])
CASES["leading zeros"] = ((
    'PLZ;Ort;Kd-Nr\n01067;Dresden;000123\n04109;Leipzig;000456\n'),
    ['PLZ', 'Ort', 'Kd-Nr'],
    [['01067', 'Dresden', '000123'], ['04109', 'Leipzig', '000456']])
CASES["quoted lines of an account above its bookings"] = ((
    '\ufeff"Girokonto";"DE12 3456 7890"\n""\n"Kontostand vom 31.01.2024:";"1.234,56 €"\n""\n'
    '"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Betrag (€)"\n'
    '"31.01.24";"31.01.24";"Gebucht";"Ann Müller";"-12,5"\n'
    '"30.01.24";"30.01.24";"Gebucht";"Firma; X";"1.000"\n"29.01.24";"29.01.24";"Gebucht";"Bob";"-3"\n').encode("utf-8"),
    ['Buchungsdatum', 'Wertstellung', 'Status', 'Zahlungspflichtige*r', 'Betrag (€)'],
    [['31.01.24', '31.01.24', 'Gebucht', 'Ann Müller', '-12,5'],
     ['30.01.24', '30.01.24', 'Gebucht', 'Firma; X', '1.000'],
     ['29.01.24', '29.01.24', 'Gebucht', 'Bob', '-3']])
CASES["lines of an account and a long sentence above its bookings"] = ((
    'Umsatzanzeige;Datei erstellt am: 31.01.2024 12:00\n\nIBAN;DE12 5001 0517\nKontoname;Girokonto\n'
    'Bank;ING\nKunde;Zoë Müller\nZeitraum;01.01.2024 - 31.01.2024\nSaldo;1.000,00;EUR\n\n'
    'Sortierung;Datum absteigend\n\n'
    'In der CSV-Datei finden Sie alle bereits gebuchten Umsätze. Die vorgemerkten Umsätze werden nicht au'
    'fgenommen, auch wenn sie in Ihrem Internetbanking angezeigt werden.\n\n'
    'Buchung;Wertstellungsdatum;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag'
    ';Währung\n31.01.2024;31.01.2024;REWE;Lastschrift;Einkauf;1.000,00;EUR;-20,00;EUR\n'
    '30.01.2024;30.01.2024;Arbeitgeber;Gehalt;Lohn 01/24;1.020,00;EUR;2.000,00;EUR\n'
    '29.01.2024;29.01.2024;Vermieter;Überweisung;Miete;-980,00;EUR;-800,00;EUR\n').encode("cp1252"),
    ['Buchung', 'Wertstellungsdatum', 'Auftraggeber/Empfänger', 'Buchungstext', 'Verwendungszweck', 'Saldo',
     'Währung', 'Betrag', 'Währung_2'],
    [['31.01.2024', '31.01.2024', 'REWE', 'Lastschrift', 'Einkauf', '1.000,00', 'EUR', '-20,00', 'EUR'],
     ['30.01.2024', '30.01.2024', 'Arbeitgeber', 'Gehalt', 'Lohn 01/24', '1.020,00', 'EUR', '2.000,00',
      'EUR'],
     ['29.01.2024', '29.01.2024', 'Vermieter', 'Überweisung', 'Miete', '-980,00', 'EUR', '-800,00', 'EUR']])
CASES["amounts with blanks in windows-1252"] = ((
    'Compte;FR76 3000\r\nSolde;1 234,56 €\r\n\r\nDate;Libellé;Débit euros;Crédit euros\r\n'
    '31/01/2024;CB CARREFOUR;-45,90;\r\n30/01/2024;"VIR; LOYER";-650,00;\r\n'
    '29/01/2024;SALAIRE;;2 100,00\r\n').encode("cp1252"),
    ['Date', 'Libellé', 'Débit euros', 'Crédit euros'],
    [['31/01/2024', 'CB CARREFOUR', '-45,90', ''], ['30/01/2024', 'VIR; LOYER', '-650,00', ''],
     ['29/01/2024', 'SALAIRE', '', '2 100,00']])
CASES["sep and windows-1252"] = ((
    'sep=;\r\nNome;Preço;Data\r\nJoão;1.234,56;31/12/2023\r\nConceição;0,5;01/01/2024\r\n').encode("cp1252"),
    ['Nome', 'Preço', 'Data'],
    [['João', '1.234,56', '31/12/2023'], ['Conceição', '0,5', '01/01/2024']])
CASES["apostrophes between thousands"] = ((
    "Name;Betrag\nMeier;1'234.50\nMüller;12'000.00\nKunz;7.00\n"),
    ['Name', 'Betrag'],
    [['Meier', "1'234.50"], ['Müller', "12'000.00"], ['Kunz', '7.00']])
CASES["UTF-16 with a tab in quotes"] = ((
    'ÿþN\x00o\x00m\x00\t\x00P\x00r\x00i\x00x\x00\r\x00\n'
    '\x00É\x00l\x00o\x00d\x00i\x00e\x00\t\x001\x00,\x005\x00\r\x00\n'
    '\x00Z\x00o\x00ë\x00\t\x00"\x00a\x00\t\x00b\x00"\x00\r\x00\n\x00').encode("cp1252"),
    ['Nom', 'Prix'],
    [['Élodie', '1,5'], ['Zoë', 'a\tb']])
CASES["errors of a spreadsheet"] = ((
    'a,b,c\n1,#DIV/0!,x\n2,#N/A,y\n3,#REF!,z\n'),
    ['a', 'b', 'c'],
    [['1', '#DIV/0!', 'x'], ['2', '#N/A', 'y'], ['3', '#REF!', 'z']])
CASES["columns and rows of nothing"] = ((
    'id,name,,,\n1,Ann,,,\n2,Bob,,,\n,,,,\n,,,,\n'),
    ['id', 'name'],
    [['1', 'Ann'], ['2', 'Bob']])
CASES["units in brackets below the names"] = ((
    'Time,Temp,Pressure\n[s],[°C],[bar]\n0,20.1,1.01\n1,20.2,1.02\n'),
    ['Time', 'Temp', 'Pressure'],
    [['[s]', '[°C]', '[bar]'], ['0', '20.1', '1.01'], ['1', '20.2', '1.02']])
CASES["a plate of wells"] = ((
    'Plate 1\n,1,2,3,4\nA,0.1,0.2,0.3,0.4\nB,0.5,0.6,0.7,0.8\nC,0.9,1.0,1.1,1.2\n'),
    ['column_1', '1', '2', '3', '4'],
    [['A', '0.1', '0.2', '0.3', '0.4'], ['B', '0.5', '0.6', '0.7', '0.8'],
     ['C', '0.9', '1.0', '1.1', '1.2']])
CASES["settings above a signal"] = ((
    'Source,CH1\nSample Interval,1e-6\nRecord Length,3\n\nTime,Volt\n-1.0E-06,0.01\n0.0E+00,0.02\n'
    '1.0E-06,0.03\n'),
    ['Time', 'Volt'],
    [['-1.0E-06', '0.01'], ['0.0E+00', '0.02'], ['1.0E-06', '0.03']])
CASES["limits as values"] = ((
    'sample,As,Pb\nS1,<0.01,2.5\nS2,0.05,>100\nS3,n.d.,3\n'),
    ['sample', 'As', 'Pb'],
    [['S1', '<0.01', '2.5'], ['S2', '0.05', '>100'], ['S3', 'n.d.', '3']])
CASES["blanks, quotes and brackets"] = ((
    '127.0.0.1 - ann [10/Oct/2023:13:55:36 -0700] "GET /a b HTTP/1.0" 200 2326\n'
    '10.0.0.1 - - [10/Oct/2023:13:55:37 -0700] "POST /x HTTP/1.1" 404 12\n'
    '10.0.0.2 - bob [10/Oct/2023:13:55:38 -0700] "GET / HTTP/1.1" 200 99\n'),
    ['column_1', 'column_2', 'column_3', 'column_4', 'column_5', 'column_6', 'column_7', 'column_8'],
    [['127.0.0.1', '-', 'ann', '[10/Oct/2023:13:55:36', '-0700]', 'GET /a b HTTP/1.0', '200', '2326'],
     ['10.0.0.1', '-', '-', '[10/Oct/2023:13:55:37', '-0700]', 'POST /x HTTP/1.1', '404', '12'],
     ['10.0.0.2', '-', 'bob', '[10/Oct/2023:13:55:38', '-0700]', 'GET / HTTP/1.1', '200', '99']])
CASES["a trace of calls in a cell"] = ((
    'ts,level,msg\n2024-01-01,ERR,"Traceback:\n  File ""a.py"", line 1\nValueError: x, y"\n'
    '2024-01-02,INFO,ok\n'),
    ['ts', 'level', 'msg'],
    [['2024-01-01', 'ERR', 'Traceback:\n  File "a.py", line 1\nValueError: x, y'],
     ['2024-01-02', 'INFO', 'ok']])
CASES["two rows of names, a rule and notes"] = ((
    'Tabelle: 12411-0001\nBevölkerung: Deutschland, Stichtag\n\n;;Anzahl;Anzahl\n;;männlich;weiblich\n'
    '31.12.2022;DE;41000000;42000000\n31.12.2023;DE;41500000;42500000\n__________\n'
    '© Statistisches Bundesamt\nStand: 01.02.2024\n'),
    ['column_1', 'column_2', 'Anzahl männlich', 'Anzahl weiblich'],
    [['31.12.2022', 'DE', '41000000', '42000000'], ['31.12.2023', 'DE', '41500000', '42500000']])
CASES["a point for no value"] = ((
    'DATE,GDP\n1947-01-01,243.164\n1947-04-01,.\n1947-07-01,249.585\n'),
    ['DATE', 'GDP'],
    [['1947-01-01', '243.164'], ['1947-04-01', '.'], ['1947-07-01', '249.585']])
CASES["thousands in quotes and notes"] = ((
    'Area,Pop 2010,Pop 2020\nAlabama,"4,779,736","5,024,279"\nAlaska,"710,231","733,391"\n\n'
    'Note: Counts as of April 1.\nSource: U.S. Census Bureau\n'),
    ['Area', 'Pop 2010', 'Pop 2020'],
    [['Alabama', '4,779,736', '5,024,279'], ['Alaska', '710,231', '733,391']])
CASES["marks of footnotes"] = ((
    'Land;2022;2023\nBayern;5,1;5,3¹\nHessen;4,9²;5,0\n\n1) vorläufig\n2) geschätzt\n'),
    ['Land', '2022', '2023'],
    [['Bayern', '5,1', '5,3¹'], ['Hessen', '4,9²', '5,0']])
CASES["years above names, the first without"] = ((
    'Country,2020,,2021,\n,Exports,Imports,Exports,Imports\nFR,1,2,3,4\nDE,5,6,7,8\n'),
    ['Country', '2020 Exports', '2020 Imports', '2021 Exports', '2021 Imports'],
    [['FR', '1', '2', '3', '4'], ['DE', '5', '6', '7', '8']])
CASES["inches in and out of quotes"] = ((
    'sku,desc,qty\nA1,19" rack,2\nA2,"24"" monitor",3\nA3,cable 6\',4\n'),
    ['sku', 'desc', 'qty'],
    [['A1', '19" rack', '2'], ['A2', '24" monitor', '3'], ['A3', "cable 6'", '4']])
CASES["a quote left open above closed ones"] = ((
    'id,txt,n\n1,"a",5\n2,"b,6\n3,"c",7\n4,"d",8\n'),
    ['id', 'txt', 'n'],
    [['1', 'a', '5'], ['2', '"b', '6'], ['3', 'c', '7'], ['4', 'd', '8']])
CASES["backslashes and a line end in quotes"] = ((
    'id,txt\n1,"line \\"one\\"\nline two"\n2,"x"\n'),
    ['id', 'txt'],
    [['1', 'line "one"\nline two'], ['2', 'x']])
CASES["nulls of a database"] = ((
    '1\tAnn\t\\N\n2\tBob\t2024-01-01\n3\tEve\t\\N\n'),
    ['column_1', 'column_2', 'column_3'],
    [['1', 'Ann', '\\N'], ['2', 'Bob', '2024-01-01'], ['3', 'Eve', '\\N']])
CASES["quotes at both ends of a cell"] = ((
    'a,b\n"""x""",1\n"""y"" z",2\n'),
    ['a', 'b'],
    [['"x"', '1'], ['"y" z', '2']])
CASES["quotes behind a blank"] = ((
    'a, b\n1, "x, y"\n2, "z"\n3, w\n'),
    ['a', 'b'],
    [['1', 'x, y'], ['2', 'z'], ['3', 'w']])
CASES["an escaped bar without quotes"] = ((
    'a|b\nx\\|y|1\nz|2\n'),
    ['a', 'b'],
    [['x|y', '1'], ['z', '2']])
CASES["a mark and the header in the middle"] = ((
    '\ufeffid,n\n1,a\n\ufeffid,n\n2,b\n').encode("utf-8"),
    ['id', 'n'],
    [['1', 'a'], ['2', 'b']])
CASES["a mark above sep"] = ((
    '\ufeffsep=,\nid,n\n1,é\n').encode("utf-8"),
    ['id', 'n'],
    [['1', 'é']])
CASES["characters of no width"] = ((
    'id,n\n1,a\u200bb\n2,\u200ec\n'),
    ['id', 'n'],
    [['1', 'a\u200bb'], ['2', '\u200ec']])
CASES["cp850"] = ((
    'Nr;Name;Straße\n1;Müller;Königstraße\n2;Schäfer;Größenweg\n').encode("cp850"),
    ['Nr', 'Name', 'Straße'],
    [['1', 'Müller', 'Königstraße'], ['2', 'Schäfer', 'Größenweg']])
CASES["two encodings"] = ((
    'id,n\n1,Zo├½\n2,├àse\n3,┼ü├│d┼║\n4,M³ller\n5,▄nal\n').encode("cp850"),
    ['id', 'n'],
    [['1', 'Zoë'], ['2', 'Åse'], ['3', 'Łódź'], ['4', 'Müller'], ['5', 'Ünal']])
CASES["a delimiter too many in the header alone"] = ((
    'a;b;c;\n1;2;3\n4;5;6\n'),
    ['a', 'b', 'c'],
    [['1', '2', '3'], ['4', '5', '6']])
CASES["a delimiter before each line"] = ((
    ',a,b\n,1,2\n,3,4\n'),
    ['column_1', 'a', 'b'],
    [['', '1', '2'], ['', '3', '4']])
CASES["empty cells left out at the ends"] = ((
    'a,b,c,d\n1,2\n1,2,3\n1,2,3,4\n'),
    ['a', 'b', 'c', 'd'],
    [['1', '2', '', ''], ['1', '2', '3', ''], ['1', '2', '3', '4']])
CASES["more cells in each row"] = ((
    'id,name,tags\n1,Ann,red\n2,Bob,red,blue\n3,Eve,red,blue,green\n'),
    ['id', 'name', 'tags', 'column_4', 'column_5'],
    [['1', 'Ann', 'red', '', ''], ['2', 'Bob', 'red', 'blue', ''], ['3', 'Eve', 'red', 'blue', 'green']])
CASES["rows of nothing above the names"] = ((
    ',,\n,,\nid,n,v\n1,a,2\n2,b,3\n'),
    ['id', 'n', 'v'],
    [['1', 'a', '2'], ['2', 'b', '3']])
CASES["a title filled up with delimiters"] = ((
    'Report 2024,,\n,,\nid,n,v\n1,a,2\n2,b,3\n'),
    ['id', 'n', 'v'],
    [['1', 'a', '2'], ['2', 'b', '3']])
CASES["sums and blank lines"] = ((
    'reg,item,v\nN,a,1\nN,b,2\n,Subtotal,3\n\nS,a,4\n,Subtotal,4\n'),
    ['reg', 'item', 'v'],
    [['N', 'a', '1'], ['N', 'b', '2'], ['', 'Subtotal', '3'], ['S', 'a', '4'], ['', 'Subtotal', '4']])
CASES["a sum below a blank line"] = ((
    'item;qty\na;1\nb;3\n\nSumme;4\n'),
    ['item', 'qty'],
    [['a', '1'], ['b', '3'], ['Summe', '4']])
CASES["a count of rows below"] = ((
    'id,n,v\n1,a,2\n2,b,3\n\n2 rows selected.\n'),
    ['id', 'n', 'v'],
    [['1', 'a', '2'], ['2', 'b', '3']])
CASES["columns below dashes and a count"] = ((
    'ID         NAME       AMT\n---------- ---------- -----\n         1 Ann        2.5\n'
    '         2 Bob Lee      3\n\n2 rows selected.\n'),
    ['ID', 'NAME', 'AMT'],
    [['1', 'Ann', '2.5'], ['2', 'Bob Lee', '3']])
CASES["dashes between commas"] = ((
    'id,name,amt\n--,----,---\n1,Ann,2.5\n2,Bob,3\n\n(2 rows affected)\n'),
    ['id', 'name', 'amt'],
    [['1', 'Ann', '2.5'], ['2', 'Bob', '3']])
CASES["a table of equals signs in text"] = ((
    '=====  =====\nid     name\n=====  =====\n1      Ann\n2      Bob\n=====  =====\n'),
    ['id', 'name'],
    [['1', 'Ann'], ['2', 'Bob']])
CASES["decimal commas in quotes behind blanks"] = ((
    'a, b\n"1,5", 2\n"2,5", 3\n'),
    ['a', 'b'],
    [['1,5', '2'], ['2,5', '3']])
CASES["sep that names another delimiter"] = ((
    'sep=,\na;b\n1;2\n3;4\n'),
    ['a', 'b'],
    [['1', '2'], ['3', '4']])
CASES["processes"] = ((
    '  PID TTY          TIME CMD\n 1234 pts/0    00:00:01 bash\n 5678 pts/0    00:00:00 ps -ef\n'),
    ['PID', 'TTY', 'TIME', 'CMD'],
    [['1234', 'pts/0', '00:00:01', 'bash'], ['5678', 'pts/0', '00:00:00', 'ps -ef']])
CASES["commas in comments"] = ((
    '# exported by tool v1, 2024\n# user: ann\n#\nid,n\n1,a\n2,b\n'),
    ['id', 'n'],
    [['1', 'a'], ['2', 'b']])
CASES["comments of semicolons"] = ((
    '; comment one\n; two\nid,n\n1,a\n2,b\n'),
    ['id', 'n'],
    [['1', 'a'], ['2', 'b']])
CASES["a comment at the end"] = ((
    'id,n\n1,a\n2,b\n# end of file\n'),
    ['id', 'n'],
    [['1', 'a'], ['2', 'b']])
CASES["integers beyond 64 bits"] = ((
    'id,n\n12345678901234567890,1\n98765432109876543210,2\n'),
    ['id', 'n'],
    [['12345678901234567890', '1'], ['98765432109876543210', '2']])
CASES["blanks around cells"] = ((
    'a,b,c\n 1 ,  ,x \n2, y,3\n'),
    ['a', 'b', 'c'],
    [[' 1 ', '  ', 'x '], ['2', ' y', '3']])
CASES["times beyond a day"] = ((
    't,v\n25:30:00,1\n00:15,2\n'),
    ['t', 'v'],
    [['25:30:00', '1'], ['00:15', '2']])
CASES["addresses"] = ((
    'id,u\n1,http://a.org/?x=1;y=2\n2,http://b.org/\n'),
    ['id', 'u'],
    [['1', 'http://a.org/?x=1;y=2'], ['2', 'http://b.org/']])
CASES["blank lines in a cell"] = ((
    'id,addr\n1,"Main St 1\n\nRome"\n2,"X\n"\n'),
    ['id', 'addr'],
    [['1', 'Main St 1\n\nRome'], ['2', 'X\n']])
CASES["sentences in quotes before numbers"] = ((
    'comment,score\n"Great, really!",5\nNot bad at all,4\n"He said ""no""",1\n'),
    ['comment', 'score'],
    [['Great, really!', '5'], ['Not bad at all', '4'], ['He said "no"', '1']])
CASES["two titled tables"] = ((
    'Table A\nid,n\n1,a\n2,b\n\nTable B\nk,v,w\nx,1,2\ny,3,4\n'),
    ['id', 'n'],
    [['1', 'a'], ['2', 'b']])
CASES["quotes that are not doubled"] = ((
    'id,txt,n\n1,"a ""b"" c",2\n2,"d "e" f",3\n3,"g, h",4\n'),
    ['id', 'txt', 'n'],
    [['1', 'a "b" c', '2'], ['2', 'd "e" f', '3'], ['3', 'g, h', '4']])
CASES["a last line that is cut"] = ((
    'id,name,v\n1,Ann,2\n2,Bob,3\n3,Ev'),
    ['id', 'name', 'v'],
    [['1', 'Ann', '2'], ['2', 'Bob', '3'], ['3', 'Ev', '']])
CASES["one row of tabs between semicolons"] = ((
    'a;b;c\n1;2;3\n4\t5\t6\n7;8;9\n'),
    ['a', 'b', 'c'],
    [['1', '2', '3'], ['4', '5', '6'], ['7', '8', '9']])
CASES["debit, credit and quotes inside"] = ((
    'Nr.;Datum;Text;Soll;Haben\n1;01.01.2024;Eröffnung;;1.000,00\n2;05.01.2024;Büro "Müller";50,00;\n'
    '3;06.01.2024;Porto;1,45;\n').encode("cp1252"),
    ['Nr.', 'Datum', 'Text', 'Soll', 'Haben'],
    [['1', '01.01.2024', 'Eröffnung', '', '1.000,00'], ['2', '05.01.2024', 'Büro "Müller"', '50,00', ''],
     ['3', '06.01.2024', 'Porto', '1,45', '']])
CASES["labels as wide as the table"] = ((
    'Umsatzauskunft;;;\nName;Ann Müller;;\nKonto;123;;\n;;;\nBuchungstag;Text;Betrag;Saldo\n'
    '01.01.2024;a;-1,00;9,00\n02.01.2024;b;2,00;11,00\n03.01.2024;c;2,00;13,00\n'),
    ['Buchungstag', 'Text', 'Betrag', 'Saldo'],
    [['01.01.2024', 'a', '-1,00', '9,00'], ['02.01.2024', 'b', '2,00', '11,00'],
     ['03.01.2024', 'c', '2,00', '13,00']])
CASES["rows that are indented"] = ((
    'Customer,Total\nAnn,\n   Job 1,10.00\n   Job 2,20.00\nTotal Ann,30.00\n'),
    ['Customer', 'Total'],
    [['Ann', ''], ['   Job 1', '10.00'], ['   Job 2', '20.00'], ['Total Ann', '30.00']])
CASES["quoted sentences above quoted names"] = ((
    '"Includes Amazon Marketplace, Fulfillment"\n"All amounts in USD, unless specified"\n'
    '"Definitions:"\n"Sales tax collected: Includes tax."\n"date/time","type","sku","total"\n'
    '"Jan 1, 2024 12:00:01 AM PST","Order","A-1","10.00"\n'
    '"Jan 2, 2024 1:00:00 PM PST","Refund","A-2","-5.00"\n'
    '"Jan 3, 2024 2:00:00 PM PST","Order","","1,200.00"\n'),
    ['date/time', 'type', 'sku', 'total'],
    [['Jan 1, 2024 12:00:01 AM PST', 'Order', 'A-1', '10.00'],
     ['Jan 2, 2024 1:00:00 PM PST', 'Refund', 'A-2', '-5.00'],
     ['Jan 3, 2024 2:00:00 PM PST', 'Order', '', '1,200.00']])
CASES["a title and dates above the names"] = ((
    'Campaign report\n"January 1, 2024 - January 31, 2024"\nCampaign,Clicks,Cost\nBrand,10,5.00\n'
    '"Non-Brand, US",20,8.50\nTotal: Account,30,13.50\n'),
    ['Campaign', 'Clicks', 'Cost'],
    [['Brand', '10', '5.00'], ['Non-Brand, US', '20', '8.50'], ['Total: Account', '30', '13.50']])
CASES["comments above two tables"] = ((
    '# ----------------------------------------\n# All Web Site Data\n# Pages\n# 20240101-20240131\n'
    '# ----------------------------------------\n\nPage,Pageviews,Bounce Rate\n/,"1,234",45.6%\n'
    '/a,56,10.0%\n\nDay Index,Pageviews\n1/1/24,100\n1/2/24,200\n'),
    ['Page', 'Pageviews', 'Bounce Rate'],
    [['/', '1,234', '45.6%'], ['/a', '56', '10.0%']])
CASES["a quoted note above the names"] = ((
    'Notes:\n'
    '"When exporting your connection data, you may notice that some of the email addresses are missing."\n'
    '\nFirst Name,Last Name,Company\nAnn,Lee,"X, Inc."\nBob,Roe,Y\n'),
    ['First Name', 'Last Name', 'Company'],
    [['Ann', 'Lee', 'X, Inc.'], ['Bob', 'Roe', 'Y']])
CASES["a quoted title above names with commas"] = ((
    '"Plot Title: Site 5"\n"#","Date Time, GMT-05:00","Temp, °C"\n1,01/05/24 10:00:00 AM,20.5\n'
    '2,01/05/24 10:10:00 AM,20.4\n3,01/05/24 10:20:00 AM,20.3\n'),
    ['#', 'Date Time, GMT-05:00', 'Temp, °C'],
    [['1', '01/05/24 10:00:00 AM', '20.5'], ['2', '01/05/24 10:10:00 AM', '20.4'],
     ['3', '01/05/24 10:20:00 AM', '20.3']])
CASES["labels of tabs above a signal"] = ((
    'LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\n***End_of_Header***\t\n\t\n'
    'X_Value\tVoltage\tComment\n0.0\t1.5\t\n0.1\t1.6\t\n0.2\t1.7\tx\n'),
    ['X_Value', 'Voltage', 'Comment'],
    [['0.0', '1.5', ''], ['0.1', '1.6', ''], ['0.2', '1.7', 'x']])
CASES["stars and a section above the names"] = ((
    '* Block Type = 96\n* Chemistry = SYBR\n\n[Results]\nWell\tSample\tCT\n1\tA\t20.1\n'
    '2\tB\tUndetermined\n3\tC\t22.0\n'),
    ['Well', 'Sample', 'CT'],
    [['1', 'A', '20.1'], ['2', 'B', 'Undetermined'], ['3', 'C', '22.0']])
CASES["notes of two lines"] = ((
    'Dati estratti il 05 gen 2024\n\nTerritorio;2022;2023\nItalia;59030133;58997201\n'
    'Nord;27400000;27380000\n\nNote:\n(a) dati provvisori\n'),
    ['Territorio', '2022', '2023'],
    [['Italia', '59030133', '58997201'], ['Nord', '27400000', '27380000']])
CASES["a title, units and no first name"] = ((
    'Población por provincias\nUnidades: Personas\n\n;Total;Hombres;Mujeres\n'
    'Álava;333626;164000;169626\nAlbacete;386464;193000;193464\n').encode("cp1252"),
    ['column_1', 'Total', 'Hombres', 'Mujeres'],
    [['Álava', '333626', '164000', '169626'], ['Albacete', '386464', '193000', '193464']])
CASES["months as names between a title and a note"] = ((
    'Australian Bureau of Statistics\nCat 6202.0\n,Jan-2024,Feb-2024\nEmployed,14000.1,14010.2\n'
    'Unemployed,600.5,601.5\nTotal,14600.6,14611.7\n© Commonwealth of Australia\n'),
    ['column_1', 'Jan-2024', 'Feb-2024'],
    [['Employed', '14000.1', '14010.2'], ['Unemployed', '600.5', '601.5'], ['Total', '14600.6', '14611.7']])
CASES["blank lines and notes below"] = ((
    'Country Name,Country Code,2020,2021\nAruba,ABW,1.5,2.5\nChad,TCD,,3\n\n\n\n'
    'Data from database: WDI\nLast Updated: 01/30/2024\n'),
    ['Country Name', 'Country Code', '2020', '2021'],
    [['Aruba', 'ABW', '1.5', '2.5'], ['Chad', 'TCD', '', '3']])
CASES["blanks that align without names"] = ((
    'USW00094728 2024 01  TMAX   44  \nUSW00094728 2024 01  TMIN   -5  \n'
    'USW00014739 2024 02  TMAX  111  \n'),
    ['column_1', 'column_2', 'column_3', 'column_4', 'column_5'],
    [['USW00094728', '2024', '01', 'TMAX', '44'], ['USW00094728', '2024', '01', 'TMIN', '-5'],
     ['USW00014739', '2024', '02', 'TMAX', '111']])
CASES["blanks before numbers and a last column of marks"] = ((
    'STATIONS_ID;MESS_DATUM;QN_9;TT_TU;eor\n 44;2024010100;  3;  5.1;eor\n 44;2024010101;  3;-999;eor\n'),
    ['STATIONS_ID', 'MESS_DATUM', 'QN_9', 'TT_TU', 'eor'],
    [[' 44', '2024010100', '  3', '  5.1', 'eor'], [' 44', '2024010101', '  3', '-999', 'eor']])
CASES["one open quote of two hundred rows"] = ((
    'id,txt\n0,t0\n1,t1\n2,t2\n3,t3\n4,t4\n5,t5\n6,t6\n7,t7\n8,t8\n9,t9\n10,t10\n11,t11\n12,t12\n'
    '13,t13\n14,t14\n15,t15\n16,t16\n17,t17\n18,t18\n19,t19\n20,t20\n21,t21\n22,t22\n23,t23\n24,t24\n'
    '25,t25\n26,t26\n27,t27\n28,t28\n29,t29\n30,t30\n31,t31\n32,t32\n33,t33\n34,t34\n35,t35\n36,t36\n'
    '37,t37\n38,t38\n39,t39\n40,t40\n41,t41\n42,t42\n43,t43\n44,t44\n45,t45\n46,t46\n47,t47\n48,t48\n'
    '49,t49\n50,"open\n51,t51\n52,t52\n53,t53\n54,t54\n55,t55\n56,t56\n57,t57\n58,t58\n59,t59\n60,t60\n'
    '61,t61\n62,t62\n63,t63\n64,t64\n65,t65\n66,t66\n67,t67\n68,t68\n69,t69\n70,t70\n71,t71\n72,t72\n'
    '73,t73\n74,t74\n75,t75\n76,t76\n77,t77\n78,t78\n79,t79\n80,t80\n81,t81\n82,t82\n83,t83\n84,t84\n'
    '85,t85\n86,t86\n87,t87\n88,t88\n89,t89\n90,t90\n91,t91\n92,t92\n93,t93\n94,t94\n95,t95\n96,t96\n'
    '97,t97\n98,t98\n99,t99\n100,t100\n101,t101\n102,t102\n103,t103\n104,t104\n105,t105\n106,t106\n'
    '107,t107\n108,t108\n109,t109\n110,t110\n111,t111\n112,t112\n113,t113\n114,t114\n115,t115\n'
    '116,t116\n117,t117\n118,t118\n119,t119\n120,t120\n121,t121\n122,t122\n123,t123\n124,t124\n'
    '125,t125\n126,t126\n127,t127\n128,t128\n129,t129\n130,t130\n131,t131\n132,t132\n133,t133\n'
    '134,t134\n135,t135\n136,t136\n137,t137\n138,t138\n139,t139\n140,t140\n141,t141\n142,t142\n'
    '143,t143\n144,t144\n145,t145\n146,t146\n147,t147\n148,t148\n149,t149\n150,t150\n151,t151\n'
    '152,t152\n153,t153\n154,t154\n155,t155\n156,t156\n157,t157\n158,t158\n159,t159\n160,t160\n'
    '161,t161\n162,t162\n163,t163\n164,t164\n165,t165\n166,t166\n167,t167\n168,t168\n169,t169\n'
    '170,t170\n171,t171\n172,t172\n173,t173\n174,t174\n175,t175\n176,t176\n177,t177\n178,t178\n'
    '179,t179\n180,t180\n181,t181\n182,t182\n183,t183\n184,t184\n185,t185\n186,t186\n187,t187\n'
    '188,t188\n189,t189\n190,t190\n191,t191\n192,t192\n193,t193\n194,t194\n195,t195\n196,t196\n'
    '197,t197\n198,t198\n199,t199\n'),
    ['id', 'txt'],
    [['0', 't0'], ['1', 't1'], ['2', 't2'], ['3', 't3'], ['4', 't4'], ['5', 't5'], ['6', 't6'], ['7', 't7'],
     ['8', 't8'], ['9', 't9'], ['10', 't10'], ['11', 't11'], ['12', 't12'], ['13', 't13'], ['14', 't14'],
     ['15', 't15'], ['16', 't16'], ['17', 't17'], ['18', 't18'], ['19', 't19'], ['20', 't20'],
     ['21', 't21'], ['22', 't22'], ['23', 't23'], ['24', 't24'], ['25', 't25'], ['26', 't26'],
     ['27', 't27'], ['28', 't28'], ['29', 't29'], ['30', 't30'], ['31', 't31'], ['32', 't32'],
     ['33', 't33'], ['34', 't34'], ['35', 't35'], ['36', 't36'], ['37', 't37'], ['38', 't38'],
     ['39', 't39'], ['40', 't40'], ['41', 't41'], ['42', 't42'], ['43', 't43'], ['44', 't44'],
     ['45', 't45'], ['46', 't46'], ['47', 't47'], ['48', 't48'], ['49', 't49'], ['50', '"open'],
     ['51', 't51'], ['52', 't52'], ['53', 't53'], ['54', 't54'], ['55', 't55'], ['56', 't56'],
     ['57', 't57'], ['58', 't58'], ['59', 't59'], ['60', 't60'], ['61', 't61'], ['62', 't62'],
     ['63', 't63'], ['64', 't64'], ['65', 't65'], ['66', 't66'], ['67', 't67'], ['68', 't68'],
     ['69', 't69'], ['70', 't70'], ['71', 't71'], ['72', 't72'], ['73', 't73'], ['74', 't74'],
     ['75', 't75'], ['76', 't76'], ['77', 't77'], ['78', 't78'], ['79', 't79'], ['80', 't80'],
     ['81', 't81'], ['82', 't82'], ['83', 't83'], ['84', 't84'], ['85', 't85'], ['86', 't86'],
     ['87', 't87'], ['88', 't88'], ['89', 't89'], ['90', 't90'], ['91', 't91'], ['92', 't92'],
     ['93', 't93'], ['94', 't94'], ['95', 't95'], ['96', 't96'], ['97', 't97'], ['98', 't98'],
     ['99', 't99'], ['100', 't100'], ['101', 't101'], ['102', 't102'], ['103', 't103'], ['104', 't104'],
     ['105', 't105'], ['106', 't106'], ['107', 't107'], ['108', 't108'], ['109', 't109'], ['110', 't110'],
     ['111', 't111'], ['112', 't112'], ['113', 't113'], ['114', 't114'], ['115', 't115'], ['116', 't116'],
     ['117', 't117'], ['118', 't118'], ['119', 't119'], ['120', 't120'], ['121', 't121'], ['122', 't122'],
     ['123', 't123'], ['124', 't124'], ['125', 't125'], ['126', 't126'], ['127', 't127'], ['128', 't128'],
     ['129', 't129'], ['130', 't130'], ['131', 't131'], ['132', 't132'], ['133', 't133'], ['134', 't134'],
     ['135', 't135'], ['136', 't136'], ['137', 't137'], ['138', 't138'], ['139', 't139'], ['140', 't140'],
     ['141', 't141'], ['142', 't142'], ['143', 't143'], ['144', 't144'], ['145', 't145'], ['146', 't146'],
     ['147', 't147'], ['148', 't148'], ['149', 't149'], ['150', 't150'], ['151', 't151'], ['152', 't152'],
     ['153', 't153'], ['154', 't154'], ['155', 't155'], ['156', 't156'], ['157', 't157'], ['158', 't158'],
     ['159', 't159'], ['160', 't160'], ['161', 't161'], ['162', 't162'], ['163', 't163'], ['164', 't164'],
     ['165', 't165'], ['166', 't166'], ['167', 't167'], ['168', 't168'], ['169', 't169'], ['170', 't170'],
     ['171', 't171'], ['172', 't172'], ['173', 't173'], ['174', 't174'], ['175', 't175'], ['176', 't176'],
     ['177', 't177'], ['178', 't178'], ['179', 't179'], ['180', 't180'], ['181', 't181'], ['182', 't182'],
     ['183', 't183'], ['184', 't184'], ['185', 't185'], ['186', 't186'], ['187', 't187'], ['188', 't188'],
     ['189', 't189'], ['190', 't190'], ['191', 't191'], ['192', 't192'], ['193', 't193'], ['194', 't194'],
     ['195', 't195'], ['196', 't196'], ['197', 't197'], ['198', 't198'], ['199', 't199']])
CASES["two open quotes"] = ((
    'id,a,b\n1,"x,y\n2,z,w\n3,"p,q\n4,r,s\n'),
    ['id', 'a', 'b'],
    [['1', '"x', 'y'], ['2', 'z', 'w'], ['3', '"p', 'q'], ['4', 'r', 's']])
CASES["doubled and escaped quotes"] = ((
    'id,t,n\n1,"a ""q"" b",2\n2,"c \\"q\\" d",3\n3,"e",4\n'),
    ['id', 't', 'n'],
    [['1', 'a "q" b', '2'], ['2', 'c "q" d', '3'], ['3', 'e', '4']])
CASES["JSON between semicolons"] = ((
    'id;js\n1;{"a":1,"b":2}\n2;{"a":2,"b":3}\n'),
    ['id', 'js'],
    [['1', '{"a":1,"b":2}'], ['2', '{"a":2,"b":3}']])
CASES["doubled apostrophes"] = ((
    "'id','t'\n'1','it''s'\n'2','a, b'\n"),
    ['id', 't'],
    [['1', "it's"], ['2', 'a, b']])
CASES["fixed places with an empty cell"] = ((
    'Code  Name        Qty\nA1    Bolt M4       5\nA2                 12\nA3    Nut           7\n'),
    ['Code', 'Name', 'Qty'],
    [['A1', 'Bolt M4', '5'], ['A2', '', '12'], ['A3', 'Nut', '7']])
CASES["numbers of columns below the names"] = ((
    'id,name,city,v\n(1),(2),(3),(4)\n1,Ann,Rome,2.5\n2,Bob,Oslo,3\n3,Eve,Paris,4.25\n'),
    ['id', 'name', 'city', 'v'],
    [['(1)', '(2)', '(3)', '(4)'], ['1', 'Ann', 'Rome', '2.5'], ['2', 'Bob', 'Oslo', '3'],
     ['3', 'Eve', 'Paris', '4.25']])
CASES["dashes for values below the names"] = ((
    'id,name,city,v\n-,-,-,-\n1,Ann,Rome,2.5\n2,Bob,Oslo,3\n3,Eve,Paris,4.25\n'),
    ['id', 'name', 'city', 'v'],
    [['-', '-', '-', '-'], ['1', 'Ann', 'Rome', '2.5'], ['2', 'Bob', 'Oslo', '3'],
     ['3', 'Eve', 'Paris', '4.25']])
CASES["a remark with a comma"] = ((
    'REM made by x, y\nid,name,city,v\n1,Ann,Rome,2.5\n2,Bob,Oslo,3\n3,Eve,Paris,4.25\n'),
    ['id', 'name', 'city', 'v'],
    [['1', 'Ann', 'Rome', '2.5'], ['2', 'Bob', 'Oslo', '3'], ['3', 'Eve', 'Paris', '4.25']])
CASES["a mark before quotes"] = ((
    '\ufeff"id","n"\n"1","a"\n').encode("utf-8"),
    ['id', 'n'],
    [['1', 'a']])
CASES["iso-8859-7"] = ((
    'üíïìá;ðüëç\nÍßêïò;ÁèÞíá\nÌáñßá;ÐÜôñá\n').encode("cp1252"),
    ['όνομα', 'πόλη'],
    [['Νίκος', 'Αθήνα'], ['Μαρία', 'Πάτρα']])
CASES["months as names"] = ((
    ',Jan,Feb,Mar\nA,1,2,3\nB,4,5,6\n'),
    ['column_1', 'Jan', 'Feb', 'Mar'],
    [['A', '1', '2', '3'], ['B', '4', '5', '6']])
CASES["names that begin with numbers"] = ((
    'id,2.5um,10um\n1,5,6\n2,7,8\n'),
    ['id', '2.5um', '10um'],
    [['1', '5', '6'], ['2', '7', '8']])
CASES["a mark before the first name"] = ((
    '#id|name|v\n1|Ann|2\n2|Bob|3\n'),
    ['#id', 'name', 'v'],
    [['1', 'Ann', '2'], ['2', 'Bob', '3']])
CASES["tabs and lines in quotes"] = ((
    'id\ttxt\n1\t"a\tb\nc"\n2\td\n'),
    ['id', 'txt'],
    [['1', 'a\tb\nc'], ['2', 'd']])
CASES["bars around lines without a rule"] = ((
    '|id|name|\n|1|Ann|\n|2||\n'),
    ['id', 'name'],
    [['1', 'Ann'], ['2', '']])
CASES["a title in a box of stars"] = ((
    '***************\n* Report 2024 *\n***************\nid;name;v\n1;Ann;2\n2;Bob;3\n'),
    ['id', 'name', 'v'],
    [['1', 'Ann', '2'], ['2', 'Bob', '3']])
CASES["names over two rows, some of them in the second"] = ((
    'Date,Temp,,Wind,\n,min,max,avg,gust\n2024-01-01,1,5,3,9\n2024-01-02,2,6,4,8\n'),
    ['Date', 'Temp min', 'Temp max', 'Wind avg', 'Wind gust'],
    [['2024-01-01', '1', '5', '3', '9'], ['2024-01-02', '2', '6', '4', '8']])
CASES["two marks of a comment above nine columns"] = ((
    '##gff-version 3\nchr1\tsrc\tgene\t1\t100\t.\t+\t.\tID=g1;Name=a\n'
    'chr1\tsrc\texon\t1\t50\t.\t+\t.\tParent=g1\n'),
    ['column_1', 'column_2', 'column_3', 'column_4', 'column_5', 'column_6', 'column_7', 'column_8',
     'column_9'],
    [['chr1', 'src', 'gene', '1', '100', '.', '+', '.', 'ID=g1;Name=a'],
     ['chr1', 'src', 'exon', '1', '50', '.', '+', '.', 'Parent=g1']])
CASES["requests of a server"] = ((
    '1.2.3.4 - - [01/Jan/2024:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0 (X11; Linux)"\n'
    '1.2.3.5 - - [01/Jan/2024:10:00:01 +0000] "GET /a HTTP/1.1" 404 7 "http://x/" "curl/8"\n'
    '1.2.3.6 - - [01/Jan/2024:10:00:02 +0000] "GET /b HTTP/1.1" 200 9 "-" "curl/8"\n'),
    ['column_1', 'column_2', 'column_3', 'column_4', 'column_5', 'column_6', 'column_7', 'column_8',
     'column_9', 'column_10'],
    [['1.2.3.4', '-', '-', '[01/Jan/2024:10:00:00', '+0000]', 'GET / HTTP/1.1', '200', '5', '-',
      'Mozilla/5.0 (X11; Linux)'],
     ['1.2.3.5', '-', '-', '[01/Jan/2024:10:00:01', '+0000]', 'GET /a HTTP/1.1', '404', '7', 'http://x/',
      'curl/8'],
     ['1.2.3.6', '-', '-', '[01/Jan/2024:10:00:02', '+0000]', 'GET /b HTTP/1.1', '200', '9', '-', 'curl/8']])
CASES["a list of processes to the right"] = ((
    '  PID USER      PR  NI    VIRT    RES %CPU COMMAND\n'
    ' 1234 root      20   0  168000  11000  0.3 systemd\n'
    '   56 ann       20   0   99000   2000 12.5 python3\n'),
    ['PID', 'USER', 'PR', 'NI', 'VIRT', 'RES', '%CPU', 'COMMAND'],
    [['1234', 'root', '20', '0', '168000', '11000', '0.3', 'systemd'],
     ['56', 'ann', '20', '0', '99000', '2000', '12.5', 'python3']])
CASES["a name of two words between others"] = ((
    'Proto Recv-Q Send-Q Local Address           State\n'
    'tcp        0      0 0.0.0.0:22              LISTEN\n'
    'tcp        0     36 10.0.0.5:22             ESTABLISHED\n'),
    ['Proto', 'Recv-Q', 'Send-Q', 'Local Address', 'State'],
    [['tcp', '0', '0', '0.0.0.0:22', 'LISTEN'], ['tcp', '0', '36', '10.0.0.5:22', 'ESTABLISHED']])
CASES["printed rows"] = ((
    '   a    b\n0  1  2.5\n1  2  3.5\n2  3  4.5\n'),
    ['column_1', 'a', 'b'],
    [['0', '1', '2.5'], ['1', '2', '3.5'], ['2', '3', '4.5']])
CASES["dashes below names and rows affected"] = ((
    'id          name\n----------- --------------------\n          1 Ann Lee\n          2 NULL\n\n'
    '(2 rows affected)\n'),
    ['id', 'name'],
    [['1', 'Ann Lee'], ['2', 'NULL']])
CASES["quotes around the names alone"] = ((
    '"id";"name";"v"\n1;Ann;2\n2;Bob;3\n'),
    ['id', 'name', 'v'],
    [['1', 'Ann', '2'], ['2', 'Bob', '3']])
CASES["text behind one closing quote"] = ((
    'id,name,v\n1,"Ann" Lee,2\n2,"Bob",3\n3,"C, D",4\n'),
    ['id', 'name', 'v'],
    [['1', '"Ann" Lee', '2'], ['2', 'Bob', '3'], ['3', 'C, D', '4']])
CASES["a path that ends in a backslash"] = ((
    'id,p,v\n1,"C:\\temp\\",2\n2,"D:\\x",3\n'),
    ['id', 'p', 'v'],
    [['1', 'C:\\temp\\', '2'], ['2', 'D:\\x', '3']])
CASES["blanks between thousands"] = ((
    'ville;pop\nParis;2 100 000\nNice;340 000\n'),
    ['ville', 'pop'],
    [['Paris', '2 100 000'], ['Nice', '340 000']])
CASES["an apostrophe before numbers"] = ((
    "id,n\n'001,a\n'002,b\n"),
    ['id', 'n'],
    [["'001", 'a'], ["'002", 'b']])
