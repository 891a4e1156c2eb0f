#!/bin/sh
# Runs inside a root of Debian 11, whose glibc is the oldest that raidtui serves: builds CPython, relocatable, with
# the libraries that it needs beside it. PREFIX is what is left. OpenSSL becomes a part of the module ssl.
#
#   interpreter.sh SOURCE.tar.xz OPENSSL.tar.gz PREFIX
set -eu

source=$1
openssl=$2
prefix=$3
libraries="libffi.so.7 libsqlite3.so.0 libz.so.1 liblzma.so.5 libbz2.so.1.0"

rm -rf /build /openssl "$prefix"
mkdir -p /build /openssl/source
tar -C /openssl/source --strip-components=1 -xf "$openssl"
cd /openssl/source
# Certificates are read from where raidtui finds those of the host. Nothing is loaded at run time.
./Configure linux-x86_64 no-shared no-tests no-dso no-engine no-legacy no-ssl3 no-comp \
    --prefix=/openssl --openssldir=/etc/ssl --libdir=lib -fPIC -O2 >/dev/null
make -s -j"$(nproc)" build_libs
make -s install_dev >/dev/null

tar -C /build --strip-components=1 -xf "$source"
cd /build

export CFLAGS="-O2 -g0 -ffile-prefix-map=/build=." LDFLAGS="-Wl,--build-id=none"
# Not used by raidtui. Hashes are the interpreter's own.
for module in _hashlib _curses _curses_panel readline _tkinter _dbm _gdbm nis _uuid; do
    export "py_cv_module_$module=n/a"
done
./configure -q --prefix="$prefix" --without-ensurepip --disable-test-modules --without-doc-strings --without-readline \
    --with-openssl=/openssl --with-builtin-hashlib-hashes=md5,sha1,sha2,sha3,blake2
make -s -j"$(nproc)"
make -s install

strip -s "$prefix"/bin/python3.?? "$prefix"/lib/python3.??/lib-dynload/*.so
mkdir -p "$prefix/licences"
cp LICENSE "$prefix/licences/CPython"
cp /openssl/source/LICENSE.txt "$prefix/licences/OpenSSL"
"$prefix"/bin/python3.?? -c 'import ssl; print(ssl.OPENSSL_VERSION)'
for library in $libraries; do
    found=$(ldconfig -p | sed -n "s/^\t$library (libc6,x86-64) => //p" | head -n 1)
    cp -L "$found" "$prefix/lib/$library"
    package=$(dpkg -S "*/$library" | sed -n '1s/:.*//p')
    cp -L "/usr/share/doc/$package/copyright" "$prefix/licences/$package"
    patchelf --set-rpath '$ORIGIN' "$prefix/lib/$library"
done
for module in "$prefix"/lib/python3.??/lib-dynload/*.so; do
    patchelf --set-rpath '$ORIGIN/../..' "$module"
done
