package faultybackend

import (
	"context"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// heldPort is a port of a host of this machine that belongs to this process from
// holdPort to release, whether the process listens on it or not. While it does not listen,
// the kernel refuses connections to the port. If the process released the port to refuse
// connections, another process could get it and answer instead of the backend.
type heldPort struct {
	number int
	at     *net.TCPAddr
	// bound is a socket that is bound to the port and never listens.
	bound *os.File
}

// holdPort takes a port that is free.
func holdPort(host string) (*heldPort, error) {
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	family, at := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Addr: [16]byte(address.IP.To16())})
	if four := address.IP.To4(); four != nil {
		family, at = unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte(four)}
	}
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	bound := os.NewFile(uintptr(socket), "held port")
	number, err := bind(socket, at)
	if err != nil {
		_ = bound.Close()
		return nil, err
	}
	address.Port = number
	return &heldPort{number: number, at: address, bound: bound}, nil
}

// bind gives the port that the kernel has chosen.
func bind(socket int, at unix.Sockaddr) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(socket, at); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	got, err := unix.Getsockname(socket)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	if four, ok := got.(*unix.SockaddrInet4); ok {
		return four.Port, nil
	}
	return got.(*unix.SockaddrInet6).Port, nil
}

// listen opens the port beside the socket that holds it, which takes no connection.
func (p *heldPort) listen() (net.Listener, error) {
	beside := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if controlled := raw.Control(func(socket uintptr) {
			err = unix.SetsockoptInt(int(socket), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}); controlled != nil {
			return controlled
		}
		return os.NewSyscallError("setsockopt", err)
	}}
	return beside.Listen(context.Background(), "tcp", p.at.String())
}

// release gives the port back; doing so again is no error.
func (p *heldPort) release() error {
	if p.bound == nil {
		return nil
	}
	err := p.bound.Close()
	p.bound = nil
	return err
}
