//go:build linux

package agent

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// addresses are the node's own and its gateway's, on the interface by which it
// reaches everybody.
func addresses() (own, gateway netip.Addr, err error) {
	table, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return own, gateway, err
	}
	device, gateway, err := defaultRoute(string(table))
	if err != nil {
		return own, gateway, err
	}
	found, err := net.InterfaceByName(device)
	if err != nil {
		return own, gateway, err
	}
	all, err := found.Addrs()
	if err != nil {
		return own, gateway, err
	}
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil && prefix.Addr().Is4() {
			return prefix.Addr(), gateway, nil
		}
	}
	return own, gateway, fmt.Errorf("%s has no IPv4 address", device)
}

// defaultRoute reads the kernel's table of routes, whose addresses are in the
// byte order of the machine.
func defaultRoute(table string) (device string, gateway netip.Addr, err error) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[1] != "00000000" {
			continue
		}
		raw, err := hex.DecodeString(fields[2])
		if err != nil || len(raw) != 4 {
			continue
		}
		slices.Reverse(raw)
		return fields[0], netip.AddrFrom4([4]byte(raw)), nil
	}
	return "", gateway, fmt.Errorf("the node has no default route")
}
