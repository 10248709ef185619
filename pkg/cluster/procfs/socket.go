package procfs

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The columns of /proc/net/tcp, counted from 0.
const (
	columnLocal  = 1
	columnRemote = 2
	columnInode  = 9
)

// SocketInode finds the socket of this machine that is bound to the local address and connected
// to the remote one; ok is false where there is none. It asks the kernel for that socket, since
// the table of all of them is long where many control planes run, and reads the table where the
// kernel knows of none: one without tcp_diag says so of all sockets.
func SocketInode(local, remote *net.TCPAddr) (inode uint64, ok bool, err error) {
	if inode, err = diagnosed(local.AddrPort(), remote.AddrPort()); err == nil && inode != 0 {
		return inode, true, nil
	}
	return tabled(local.Port, remote.Port)
}

// tabled finds a socket in the table of all.
func tabled(localPort, remotePort int) (inode uint64, ok bool, err error) {
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the headline
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) <= columnInode || port(columns[columnLocal]) != localPort || port(columns[columnRemote]) != remotePort {
			continue
		}
		// Inode 0 is a socket that no process holds any more.
		if inode, err := strconv.ParseUint(columns[columnInode], 10, 64); err == nil && inode != 0 {
			return inode, true, nil
		}
	}
	return 0, false, lines.Err()
}

// port reads the port of an address such as 0100007F:1F90; -1 if it has none.
func port(address string) int {
	_, hex, _ := strings.Cut(address, ":")
	number, err := strconv.ParseInt(hex, 16, 32)
	if err != nil {
		return -1
	}
	return int(number)
}

// HoldsSocket is whether the process has the socket open.
func HoldsSocket(pid int, inode uint64) bool {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	want := fmt.Sprintf("socket:[%d]", inode)
	files, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, file := range files {
		// A descriptor may be closed between listing and reading it.
		if target, err := os.Readlink(filepath.Join(folder, file.Name())); err == nil && target == want {
			return true
		}
	}
	return false
}
