package procfs

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// The layout of sock_diag(7): a request for one TCP socket over IPv4, and what answers it.
const (
	sockDiagByFamily = 20
	// diagRequest is how long struct inet_diag_req_v2 is; the socket's ID begins at 8, with two
	// ports and two addresses of 16 bytes, and ends in a cookie that is not known.
	diagRequest    = 56
	diagLocalPort  = 8
	diagRemotePort = 10
	diagLocal      = 12
	diagRemote     = 28
	diagCookie     = 48
	// In the answer the ID begins at 4.
	diagAnswerRemotePort = 6
	diagAnswerInode      = 68
)

// diagnosed asks the kernel for one socket; the inode is 0 where no process holds it any more.
func diagnosed(local, remote netip.AddrPort) (inode uint64, err error) {
	from, to := local.Addr().Unmap(), remote.Addr().Unmap()
	if !from.Is4() || !to.Is4() {
		return 0, fmt.Errorf("%s and %s are not both addresses of IPv4", local, remote)
	}
	conn, err := netlink.Dial(unix.NETLINK_SOCK_DIAG, nil)
	if err != nil {
		return 0, fmt.Errorf("ask for a socket: %w", err)
	}
	defer conn.Close()
	ask := make([]byte, diagRequest)
	ask[0], ask[1] = unix.AF_INET, unix.IPPROTO_TCP
	binary.BigEndian.PutUint16(ask[diagLocalPort:], local.Port())
	binary.BigEndian.PutUint16(ask[diagRemotePort:], remote.Port())
	copy(ask[diagLocal:], from.AsSlice())
	copy(ask[diagRemote:], to.AsSlice())
	for i := range 8 {
		ask[diagCookie+i] = 0xff
	}
	answers, err := conn.Execute(netlink.Message{Header: netlink.Header{Type: sockDiagByFamily, Flags: netlink.Request}, Data: ask})
	if err != nil {
		return 0, fmt.Errorf("ask for a socket: %w", err)
	}
	if len(answers) != 1 || len(answers[0].Data) < diagAnswerInode+4 {
		return 0, fmt.Errorf("ask for a socket: %d answers of no known form", len(answers))
	}
	// One that listens at the local address stands for all that are not there.
	if binary.BigEndian.Uint16(answers[0].Data[diagAnswerRemotePort:]) != remote.Port() {
		return 0, fmt.Errorf("ask for a socket: %w", unix.ENOENT)
	}
	return uint64(binary.NativeEndian.Uint32(answers[0].Data[diagAnswerInode:])), nil
}
