//go:build linux

package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The ports of a member's servers, which kubeadm chose.
const (
	etcdPort, peerPort, apiserverPort = 2379, 2380, 6443
)

// The ports on which the agent takes what is redirected to it.
const (
	etcdProxyPort, peerOutPort, peerInPort, componentsPort = 18379, 18380, 18381, 18443
)

// passMark is on the agent's own connections, which are not redirected again.
const passMark = 0xe7e1

// rules redirect the member's links to the agent: connections that are made
// after it, which is why it starts before the kubelet. The components need not
// know, and replacing a static Pod does not take the link away.
func rules(address netip.Addr) [][]string {
	redirect := func(chain string, match []string, to int) []string {
		rule := append([]string{"-t", "nat", "-A", chain, "-p", "tcp"}, match...)
		return append(rule, "-m", "mark", "!", "--mark", strconv.Itoa(passMark), "-j", "REDIRECT", "--to-ports", strconv.Itoa(to))
	}
	own := address.String()
	return [][]string{
		// The API server asks its etcd at the loopback.
		redirect("OUTPUT", []string{"-d", "127.0.0.1", "--dport", strconv.Itoa(etcdPort)}, etcdProxyPort),
		// The controllers ask the API server at the node's own address.
		redirect("OUTPUT", []string{"-d", own, "--dport", strconv.Itoa(apiserverPort)}, componentsPort),
		redirect("OUTPUT", []string{"!", "-d", own, "--dport", strconv.Itoa(peerPort)}, peerOutPort),
		redirect("PREROUTING", []string{"-d", own, "--dport", strconv.Itoa(peerPort)}, peerInPort),
	}
}

// severance keeps all packets from passing between the node and everybody but
// the gateway, through which only the harness itself comes.
func severance(gateway netip.Addr) [][]string {
	return [][]string{
		{"INPUT", "!", "-i", "lo", "!", "-s", gateway.String(), "-j", "DROP"},
		{"OUTPUT", "!", "-o", "lo", "!", "-d", gateway.String(), "-j", "DROP"},
	}
}

// filter changes or lists the node's packet filter.
func filter(ctx context.Context, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, ruleBound)
	defer cancel()
	command := exec.CommandContext(ctx, "iptables", append([]string{"--wait"}, arguments...)...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("iptables %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}

// dropped counts the packets that the severance has dropped.
func dropped(ctx context.Context) (int64, error) {
	count := int64(0)
	for _, chain := range []string{"INPUT", "OUTPUT"} {
		listed, err := filter(ctx, "--list", chain, "--numeric", "--verbose", "--exact")
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(listed) {
			if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "DROP" {
				packets, err := strconv.ParseInt(fields[0], 10, 64)
				if err != nil {
					return 0, fmt.Errorf("iptables lists %q: %w", line, err)
				}
				count += packets
			}
		}
	}
	return count, nil
}

// originalDestination is where a redirected connection was meant to go.
func originalDestination(connection *net.TCPConn) (netip.AddrPort, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return netip.AddrPort{}, err
	}
	var found netip.AddrPort
	var failed error
	err = raw.Control(func(fd uintptr) {
		// The kernel writes a sockaddr_in; this call has room for one.
		value, err := unix.GetsockoptIPv6Mreq(int(fd), unix.IPPROTO_IP, unix.SO_ORIGINAL_DST)
		if err != nil {
			failed = err
			return
		}
		address := netip.AddrFrom4([4]byte(value.Multiaddr[4:8]))
		found = netip.AddrPortFrom(address, binary.BigEndian.Uint16(value.Multiaddr[2:4]))
	})
	if err == nil {
		err = failed
	}
	return found, err
}

// marked makes the agent's own connections known to the rules.
func marked(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, passMark)
	})
	if err != nil {
		return err
	}
	return failed
}
