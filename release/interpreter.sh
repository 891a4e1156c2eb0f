#!/bin/sh
# Runs inside a root of Debian 11, whose glibc is the oldest that raidtui serves: builds CPython, relocatable, with
# the libraries that it needs beside it. PREFIX is what is left.
#
#   interpreter.sh SOURCE.tar.xz PREFIX
set -eu

source=$1
prefix=$2
libraries="libffi.so.7 libsqlite3.so.0 libz.so.1 liblzma.so.5 libbz2.so.1.0"

rm -rf /build "$prefix"
mkdir -p /build
tar -C /build --strip-components=1 -xf "$source"
cd /build

export CFLAGS="-O2 -g0 -ffile-prefix-map=/build=." LDFLAGS="-Wl,--build-id=none"
# Not used by raidtui. Without OpenSSL, hashes are the interpreter's own.
for module in _ssl _hashlib _curses _curses_panel readline _tkinter _dbm _gdbm nis _uuid; do
    export "py_cv_module_$module=n/a"
done
./configure -q --prefix="$prefix" --without-ensurepip --disable-test-modules --without-doc-strings --without-readline \
    --with-builtin-hashlib-hashes=md5,sha1,sha2,sha3,blake2
make -s -j"$(nproc)"
make -s install

strip -s "$prefix"/bin/python3.?? "$prefix"/lib/python3.??/lib-dynload/*.so
mkdir -p "$prefix/licences"
cp LICENSE "$prefix/licences/CPython"
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
