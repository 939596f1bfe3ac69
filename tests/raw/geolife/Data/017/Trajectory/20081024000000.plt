Geolife trajectory
WGS 84
Altitude is in Feet
Reserved 3
0,2,255,My Track,0,0,2,8421376
0
39.60,116.10,0,100,39745.0,2008-10-24,00:00:00
