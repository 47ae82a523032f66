"""Text files as spreadsheets, wikis and instruments leave them, for dirty_csv.py: the bytes, and the
table that a person reads in them."""

CASES = {}

CASES["columns and rows of nothing around a table"] = ((
    'date,time,qty,product,price,,\n'
     '2018-09-24,09:10,3,Chair,12.50,,\n'
     '2018-09-25,10:35,1,Table,99.00,,\n'
     '2018-09-26,11:00,12,Lamp,7.25,,\n'
     '2018-09-27,16:45,5,Desk,150.00,,\n'
     '2018-09-28,18:05,2,Sofa,499.90,,\n'
     '2018-09-29,08:15,7,Shelf,45.00,,\n'
     '2018-09-30,12:30,4,Stool,19.99,,\n'
     ',,,,,,\n'
     ',,,,,,\n'
     ',,,,,,\n'
     ',,,,,,\n'),
    ['date', 'time', 'qty', 'product', 'price'],
    [['2018-09-24', '09:10', '3', 'Chair', '12.50'], ['2018-09-25', '10:35', '1', 'Table', '99.00'],
     ['2018-09-26', '11:00', '12', 'Lamp', '7.25'], ['2018-09-27', '16:45', '5', 'Desk', '150.00'],
     ['2018-09-28', '18:05', '2', 'Sofa', '499.90'], ['2018-09-29', '08:15', '7', 'Shelf', '45.00'],
     ['2018-09-30', '12:30', '4', 'Stool', '19.99']])
CASES["a remark below a row of delimiters"] = ((
    'Artikel;Menge;Preis;Datum\n'
     'Schraube M4;100;0,05;01.02.2023\n'
     'Mutter;250;0,10;15.02.2023\n'
     'Unterlegscheibe;1000;0,01;28.02.2023\n'
     'Bohrer 5mm;12;4,99;03.03.2023\n'
     'Hammer;3;19,90;31.03.2023\n'
     ';;;\n'
     'Source: statistical office;;;\n'),
    ['Artikel', 'Menge', 'Preis', 'Datum'],
    [['Schraube M4', '100', '0,05', '01.02.2023'], ['Mutter', '250', '0,10', '15.02.2023'],
     ['Unterlegscheibe', '1000', '0,01', '28.02.2023'], ['Bohrer 5mm', '12', '4,99', '03.03.2023'],
     ['Hammer', '3', '19,90', '31.03.2023']])
CASES["a delimiter too many above texts with commas"] = ((
    'id,name,email,city,notes,\n'
     '1,"Smith, John",j.smith@x.org,New York,likes tea\n'
     '2,Ann Lee,ann@y.com,Los Angeles,\n'
     '3,Eve O\'Neil,eve@z.net,Boston,"moved, 2019"\n'
     '4,Bob Dole,bob@x.org,San Jose,call back\n'
     '5,Zed Zu,zed@q.io,Reno,none\n'
     '6,Kim Yo,kim@x.org,Salem,VIP\n'),
    ['id', 'name', 'email', 'city', 'notes'],
    [['1', 'Smith, John', 'j.smith@x.org', 'New York', 'likes tea'],
     ['2', 'Ann Lee', 'ann@y.com', 'Los Angeles', ''], ['3', "Eve O'Neil", 'eve@z.net', 'Boston', 'moved, 2019'],
     ['4', 'Bob Dole', 'bob@x.org', 'San Jose', 'call back'], ['5', 'Zed Zu', 'zed@q.io', 'Reno', 'none'],
     ['6', 'Kim Yo', 'kim@x.org', 'Salem', 'VIP']])
CASES["a delimiter too many below the names alone"] = ((
    'Station,Lat,Lon,Elev_m,Active\n'
     'Alpha,52.5200,13.4050,34,true,\n'
     'Bravo,48.1351,11.5820,519,false,\n'
     'Charlie,-33.8688,151.2093,58,true,\n'
     'Delta,0.0000,-78.4678,2850,true,\n'
     'Echo,64.1466,-21.9426,0,false,\n'),
    ['Station', 'Lat', 'Lon', 'Elev_m', 'Active'],
    [['Alpha', '52.5200', '13.4050', '34', 'true'], ['Bravo', '48.1351', '11.5820', '519', 'false'],
     ['Charlie', '-33.8688', '151.2093', '58', 'true'], ['Delta', '0.0000', '-78.4678', '2850', 'true'],
     ['Echo', '64.1466', '-21.9426', '0', 'false']])
CASES["decimal commas between carets"] = ((
    'Artikel^Menge^Preis^Datum\n'
     'Schraube M4^100^0,05^01.02.2023\n'
     'Mutter^250^0,10^15.02.2023\n'
     'Unterlegscheibe^1000^0,01^28.02.2023\n'
     'Bohrer 5mm^12^4,99^03.03.2023\n'
     'Hammer^3^19,90^31.03.2023\n'),
    ['Artikel', 'Menge', 'Preis', 'Datum'],
    [['Schraube M4', '100', '0,05', '01.02.2023'], ['Mutter', '250', '0,10', '15.02.2023'],
     ['Unterlegscheibe', '1000', '0,01', '28.02.2023'], ['Bohrer 5mm', '12', '4,99', '03.03.2023'],
     ['Hammer', '3', '19,90', '31.03.2023']])
CASES["dollars that part cells"] = ((
    'Station$Lat$Lon$Elev_m$Active\n'
     'Alpha$52.5200$13.4050$34$true\n'
     'Bravo$48.1351$11.5820$519$false\n'
     'Charlie$-33.8688$151.2093$58$true\n'
     'Delta$0.0000$-78.4678$2850$true\n'
     'Echo$64.1466$-21.9426$0$false\n'),
    ['Station', 'Lat', 'Lon', 'Elev_m', 'Active'],
    [['Alpha', '52.5200', '13.4050', '34', 'true'], ['Bravo', '48.1351', '11.5820', '519', 'false'],
     ['Charlie', '-33.8688', '151.2093', '58', 'true'], ['Delta', '0.0000', '-78.4678', '2850', 'true'],
     ['Echo', '64.1466', '-21.9426', '0', 'false']])
CASES["indicators with a delimiter at each end"] = ((
    '\ufeff"Data Source","World Development Indicators",\r\n'
     '\r\n'
     '"Last Updated Date","2023-12-18",\r\n'
     '\r\n'
     '"Country Name","Country Code","Indicator Name","1960","1961",\r\n'
     '"Aruba","ABW","Population, total","54608","55811",\r\n'
     '"Angola","AGO","Population, total","5357195","5441333",\r\n'),
    ['Country Name', 'Country Code', 'Indicator Name', '1960', '1961'],
    [['Aruba', 'ABW', 'Population, total', '54608', '55811'],
     ['Angola', 'AGO', 'Population, total', '5357195', '5441333']])
CASES["settings above two columns"] = ((
    'Sample,S-17\nOperator,J. Doe\nWavelength,Absorbance\n400,0.123\n410,0.150\n420,0.177\n'),
    ['Wavelength', 'Absorbance'],
    [['400', '0.123'], ['410', '0.150'], ['420', '0.177']])
CASES["commas between thousands"] = ((
    'city,population,year\nRome,2,800,000,2020\nOslo,700,000,2020\nBern,134,591,2021\n'),
    ['city', 'population', 'year'],
    [['Rome', '2,800,000', '2020'], ['Oslo', '700,000', '2020'], ['Bern', '134,591', '2021']])
CASES["commas between thousands at the end"] = ((
    'city,population\nRome,2,800,000\nOslo,700,000\nVaduz,5,450\n'),
    ['city', 'population'],
    [['Rome', '2,800,000'], ['Oslo', '700,000'], ['Vaduz', '5,450']])
CASES["dollars with commas between thousands"] = ((
    'item,price,n\nCar,$12,500,1\nBike,$900,3\nBoat,$1,250,000,1\n'),
    ['item', 'price', 'n'],
    [['Car', '$12,500', '1'], ['Bike', '$900', '3'], ['Boat', '$1,250,000', '1']])
CASES["a comma in one place name"] = ((
    'id,name,city\n1,Ann,Rome\n2,Bob,Paris, France\n3,Eve,Oslo\n4,Kim,Bern\n'),
    ['id', 'name', 'city'],
    [['1', 'Ann', 'Rome'], ['2', 'Bob', 'Paris, France'], ['3', 'Eve', 'Oslo'], ['4', 'Kim', 'Bern']])
CASES["last and first names"] = ((
    'id,name,age\n1,Smith, John,30\n2,Doe, Jane,25\n3,Roe, Jim,44\n'),
    ['id', 'name', 'age'],
    [['1', 'Smith, John', '30'], ['2', 'Doe, Jane', '25'], ['3', 'Roe, Jim', '44']])
CASES["dates with a comma"] = ((
    'd,v\nJan 1, 2020,1\nFeb 1, 2020,2\nMar 1, 2020,5\n'),
    ['d', 'v'],
    [['Jan 1, 2020', '1'], ['Feb 1, 2020', '2'], ['Mar 1, 2020', '5']])
CASES["the end of a copied table"] = ((
    '1\tAnn\\tLee\t5\n2\tBob\t\\N\n\\.\n'),
    ['column_1', 'column_2', 'column_3'],
    [['1', 'Ann\\tLee', '5'], ['2', 'Bob', '\\N']])
CASES["an empty column between others, and one behind them"] = ((
    'a,,c,\n1,,3,\n2,,4,\n'),
    ['a', 'column_2', 'c'],
    [['1', '', '3'], ['2', '', '4']])
CASES["a category above weeks"] = ((
    'Category: All categories\n'
     '\n'
     'Week,python: (Worldwide)\n'
     '2023-01-01,80\n'
     '2023-01-08,85\n'
     '2023-01-15,<1\n'),
    ['Week', 'python: (Worldwide)'],
    [['2023-01-01', '80'], ['2023-01-08', '85'], ['2023-01-15', '<1']])
CASES["settings above plates"] = ((
    'Protocol\tELISA\n'
     'Date\t2023-05-04 10:11\n'
     'Reader\tX-200\n'
     'Temp\t24.9\n'
     '\tA\tB\tC\n'
     '1\t0.051\t0.049\t0.930\n'
     '2\t0.062\t0.048\t0.811\n'
     '3\t0.055\t0.051\t0.777\n'),
    ['column_1', 'A', 'B', 'C'],
    [['1', '0.051', '0.049', '0.930'], ['2', '0.062', '0.048', '0.811'], ['3', '0.055', '0.051', '0.777']])
CASES["records of an oscilloscope"] = ((
    'Record Length,1000,,\n'
     'Sample Interval,4e-07,,\n'
     'Vertical Units,V,,\n'
     'TIME,CH1,CH2,CH3\n'
     '-0.001,0.02,1.1,3\n'
     '-0.0009,0.04,1.0,3\n'
     '-0.0008,0.06,0.9,3\n'),
    ['TIME', 'CH1', 'CH2', 'CH3'],
    [['-0.001', '0.02', '1.1', '3'], ['-0.0009', '0.04', '1.0', '3'], ['-0.0008', '0.06', '0.9', '3']])
CASES["sections of a diffractometer"] = ((
    '[Measurement conditions]\n'
     'Anode,Cu\n'
     'K-Alpha1,1.54060\n'
     '[Scan points]\n'
     'Angle,Intensity\n'
     '10.0,55\n'
     '10.1,57\n'
     '10.2,61\n'),
    ['Angle', 'Intensity'],
    [['10.0', '55'], ['10.1', '57'], ['10.2', '61']])
CASES["a summary above bookings"] = ((
    'Description,,Summary Amt.\n'
     'Beginning balance as of 01/01/2024,,"1,000.00"\n'
     'Total credits,,"2,000.00"\n'
     '\n'
     'Date,Description,Amount,Running Bal.\n'
     '01/02/2024,"DEPOSIT, PAYROLL","2,000.00","3,000.00"\n'
     '01/03/2024,COFFEE,-4.50,"2,995.50"\n'
     '01/04/2024,TEA,-4.00,"2,991.50"\n'),
    ['Date', 'Description', 'Amount', 'Running Bal.'],
    [['01/02/2024', 'DEPOSIT, PAYROLL', '2,000.00', '3,000.00'], ['01/03/2024', 'COFFEE', '-4.50', '2,995.50'],
     ['01/04/2024', 'TEA', '-4.00', '2,991.50']])
CASES["names of rows between blanks"] = ((
    '"Sepal" "Petal" "Species"\n"1" 5.1 1.4 "setosa"\n"2" 4.9 1.4 "setosa"\n"3" 6.3 6.0 "virg x"\n'),
    ['column_1', 'Sepal', 'Petal', 'Species'],
    [['1', '5.1', '1.4', 'setosa'], ['2', '4.9', '1.4', 'setosa'], ['3', '6.3', '6.0', 'virg x']])
CASES["quoted cells of nothing"] = ((
    'id,name,n,"",""\n1,Ann,5,"",""\n2,Bob,6,"",""\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6']])
CASES["a value in a column without a name"] = ((
    'id,name,n,,\n1,Ann,5,,\n2,Bob,6,,\n3,Eve,7,,x\n'),
    ['id', 'name', 'n', 'column_4', 'column_5'],
    [['1', 'Ann', '5', '', ''], ['2', 'Bob', '6', '', ''], ['3', 'Eve', '7', '', 'x']])
CASES["rows of delimiters that CR ends"] = ((
    'id,name,n\r1,Ann,5\r2,Bob,6\r3,Eve,7\r,,\r,,\r'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["a source between rows of delimiters"] = ((
    'id;name;n\n1;Ann;5\n2;Bob;6\n3;Eve;7\n;;\nQuelle: Amt für Statistik;;\n;;\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["a total below a row of delimiters"] = ((
    'id,name,n\n1,Ann,5\n2,Bob,6\n3,Eve,7\n,,\nTotal,,18\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7'], ['', '', ''], ['Total', '', '18']])
CASES["nothing but empty rows"] = ((
    'a,b\n,\n,\n'),
    ['a', 'b'],
    [['', ''], ['', '']])
CASES["an empty row between others, and one below"] = ((
    'id,name,n\n1,Ann,5\n,,\n2,Bob,6\n3,Eve,7\n,,\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['', '', ''], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["a table below rows of delimiters"] = ((
    'id,name,n\n1,Ann,5\n2,Bob,6\n3,Eve,7\n,,\n,,\ncode,total,\na,1,\nb,2,\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["a title and an end of delimiters"] = ((
    'Report,,,\n,,,\nid,name,n,\n1,Ann,5,\n2,Bob,6,\n3,Eve,7,\n,,,\n,,,\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["a short row below a delimiter too many"] = ((
    'id,name,n,\n1,Ann,5\n2,Bob\n3,Eve,7\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', ''], ['3', 'Eve', '7']])
CASES["delimiters inside a cell of several lines"] = ((
    'id,t,\n1,"a\n,,\n",\n2,b,\n'),
    ['id', 't'],
    [['1', 'a\n,,\n'], ['2', 'b']])
CASES["a remark beside one row"] = ((
    'id,t,,\n1,a,,see below\n2,b,,\n'),
    ['id', 't', 'column_3', 'column_4'],
    [['1', 'a', '', 'see below'], ['2', 'b', '', '']])
CASES["a delimiter before and behind each line"] = ((
    ',a,b,\n,1,2,\n,3,4,\n'),
    ['column_1', 'a', 'b'],
    [['', '1', '2'], ['', '3', '4']])
CASES["joined files with empty columns"] = ((
    'id,name,n,\n1,Ann,5,\n2,Bob,6,\n3,Eve,7,\nid,name,n,\n1,Ann,5,\n2,Bob,6,\n3,Eve,7,\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7'], ['1', 'Ann', '5'], ['2', 'Bob', '6'],
     ['3', 'Eve', '7']])
CASES["empty columns and text behind a quote"] = ((
    'id,name,n,\n1,"Ann" B,5,\n2,Bob,6,\n,,,\n'),
    ['id', 'name', 'n'],
    [['1', '"Ann" B', '5'], ['2', 'Bob', '6']])
CASES["empty columns in UTF-16"] = ((
    b'\xff\xfei\x00d\x00\t\x00n\x00a\x00m\x00e\x00\t\x00n\x00\t\x00\n\x001\x00\t\x00A\x00n\x00'
     b'n\x00\t\x005\x00\t\x00\n\x002\x00\t\x00B\x00o\x00b\x00\t\x006\x00\t\x00\n\x003\x00\t\x00'
     b'E\x00v\x00e\x00\t\x007\x00\t\x00\n\x00'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["two remarks below a row of delimiters"] = ((
    'id,name,n\n'
     '1,Ann,5\n'
     '2,Bob,6\n'
     '3,Eve,7\n'
     ',,\n'
     '* preliminary data of the year,,\n'
     '** revised data of the year,,\n'),
    ['id', 'name', 'n'],
    [['1', 'Ann', '5'], ['2', 'Bob', '6'], ['3', 'Eve', '7']])
CASES["a blank behind some commas"] = ((
    'name,phone\nAnn, 123\nBob, 456, 789\n'),
    ['name', 'phone', 'column_3'],
    [['Ann', ' 123', ''], ['Bob', ' 456', ' 789']])
CASES["sentences with commas"] = ((
    'id,text,score\n1,Hello, world,5\n2,Good,4\n3,Yes, no, maybe,3\n'),
    ['id', 'text', 'score'],
    [['1', 'Hello, world', '5'], ['2', 'Good', '4'], ['3', 'Yes, no, maybe', '3']])
CASES["negative thousands"] = ((
    'k,v,w\na,-1,200,3\nb,15,4\nc,1,000,5\n'),
    ['k', 'v', 'w'],
    [['a', '-1,200', '3'], ['b', '15', '4'], ['c', '1,000', '5']])
CASES["euros with commas between thousands"] = ((
    'k,v,w\na,€1,200,3\nb,€15,4\nc,€1,000,5\n'),
    ['k', 'v', 'w'],
    [['a', '€1,200', '3'], ['b', '€15', '4'], ['c', '€1,000', '5']])
CASES["a number too many"] = ((
    'a,b,c\n1,2,3\n4,5,6,700\n7,8,9\n'),
    ['a', 'b', 'c', 'column_4'],
    [['1', '2', '3', ''], ['4', '5', '6', '700'], ['7', '8', '9', '']])
CASES["thousands with and without commas"] = ((
    'a,b,c\nx,2000,3\ny,1,500,6\nz,2,500,9\n'),
    ['a', 'b', 'c', 'column_4'],
    [['x', '2000', '3', ''], ['y', '1', '500', '6'], ['z', '2', '500', '9']])
CASES["row names above hundreds"] = ((
    'x,y\nr1,100,200\nr2,300,400\nr3,500,600\n'),
    ['column_1', 'x', 'y'],
    [['r1', '100', '200'], ['r2', '300', '400'], ['r3', '500', '600']])
CASES["row numbers above hundreds"] = ((
    'x,y\n1,100,200\n2,300,400\n3,500,600\n'),
    ['column_1', 'x', 'y'],
    [['1', '100', '200'], ['2', '300', '400'], ['3', '500', '600']])
CASES["dollars around decimal commas"] = ((
    'a$b$c\n1$2,5$3\n4$5,5$6\n'),
    ['a', 'b', 'c'],
    [['1', '2,5', '3'], ['4', '5,5', '6']])
CASES["at signs around decimal commas"] = ((
    'a@b@c\nx@1,5@2\ny@2,5@3\n'),
    ['a', 'b', 'c'],
    [['x', '1,5', '2'], ['y', '2,5', '3']])
CASES["a column of addresses of mail"] = ((
    'mail\nann@x.org\nbob@y.org\neve@z.org\n'),
    ['mail'],
    [['ann@x.org'], ['bob@y.org'], ['eve@z.org']])
CASES["answers in words and in numbers"] = ((
    'q1,q2\nagree,disagree\nagree,agree\nneutral,agree\n3,4\n5,4\n4,4\n'),
    ['q1', 'q2'],
    [['agree', 'disagree'], ['agree', 'agree'], ['neutral', 'agree'], ['3', '4'], ['5', '4'], ['4', '4']])
CASES["names, units and a comment"] = ((
    'Time,Voltage\nsec,volt\nrun 1,run 1\n0,1.5\n1,2.5\n2,3.5\n'),
    ['Time', 'Voltage'],
    [['sec', 'volt'], ['run 1', 'run 1'], ['0', '1.5'], ['1', '2.5'], ['2', '3.5']])
CASES["settings with an empty cell"] = ((
    'Device,X1,\nSerial,55-A,\n\nt,v,w\n0,1,2\n1,2,3\n2,3,4\n'),
    ['t', 'v', 'w'],
    [['0', '1', '2'], ['1', '2', '3'], ['2', '3', '4']])
CASES["one column of LaTeX"] = ((
    'a \\\\\nb \\\\\nc \\\\\n'),
    ['a \\\\'],
    [['b \\\\'], ['c \\\\']])
CASES["STX between cells"] = ((
    'a\x02b\x02c\nx\x021\x022\ny\x022\x023\n'),
    ['a', 'b', 'c'],
    [['x', '1', '2'], ['y', '2', '3']])
CASES["two titled tables of a sheet, filled up"] = ((
    'Sales North,,\nmonth,units,price\nJan,10,1.5\nFeb,12,1.6\nMar,9,1.4\n,,\nCosts,,\ncategory,amount,\nrent,100,\n'
    'power,20,\n'),
    ['month', 'units', 'price'],
    [['Jan', '10', '1.5'], ['Feb', '12', '1.6'], ['Mar', '9', '1.4']])
CASES["a narrow table below a wide one, filled up"] = ((
    'id,a,b,c,d,e\n1,2,3,4,5,6\n2,3,4,5,6,7\n,,,,,\ncode,rate,,,,\nx,0.5,,,,\ny,0.7,,,,\n'),
    ['id', 'a', 'b', 'c', 'd', 'e'],
    [['1', '2', '3', '4', '5', '6'], ['2', '3', '4', '5', '6', '7']])
CASES["groups of rows behind empty ones"] = ((
    'item,n,price\nNorth,,\na,1,2\nb,2,3\n,,\nSouth,,\nc,3,4\nd,4,5\n'),
    ['item', 'n', 'price'],
    [['North', '', ''], ['a', '1', '2'], ['b', '2', '3'], ['', '', ''], ['South', '', ''], ['c', '3', '4'],
     ['d', '4', '5']])
CASES["a short log of uneven commas"] = ((
    '2024-01-01 10:00:00,INFO,started\n2024-01-01 10:00:01,WARN,slow, very, slow\n2024-01-01 10:00:02,INFO,done, ok\n'),
    ['column_1', 'column_2', 'column_3'],
    [['2024-01-01 10:00:00', 'INFO', 'started'], ['2024-01-01 10:00:01', 'WARN', 'slow, very, slow'],
     ['2024-01-01 10:00:02', 'INFO', 'done, ok']])
CASES["keys and values of three moments"] = ((
    'ts=2024-01-01T00:00:00Z level=info msg="started app" pid=12\n'
    'ts=2024-01-01T00:00:01Z level=warn msg="slow, very slow" pid=12\n'
    'ts=2024-01-01T00:00:02Z level=info msg="done" pid=12\n'),
    ['column_1'],
    [['ts=2024-01-01T00:00:00Z level=info msg="started app" pid=12'],
     ['ts=2024-01-01T00:00:01Z level=warn msg="slow, very slow" pid=12'],
     ['ts=2024-01-01T00:00:02Z level=info msg="done" pid=12']])
