//go:build linux

package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// tableName is the agent's only mark in the node's packet filter: removing the table removes
// all rules in it.
const tableName = "evenkeel"

// beforeOthers has the table see packets before the rules of installers and networks do.
const beforeOthers = -310

// sshPort is where the other end of a tunnel comes in.
const sshPort = 22

// firewall cuts the node off by a table of its own in the kernel's packet filter. It speaks
// to the kernel itself: the image of the agent has no other program in it.
type firewall struct {
	mu sync.Mutex
}

// NewFirewall is the packet filter of the kernel.
func NewFirewall() PacketFilter { return &firewall{} }

func (f *firewall) table() *nftables.Table {
	return &nftables.Table{Name: tableName, Family: nftables.TableFamilyINet}
}

// Cut implements PacketFilter.
func (f *firewall) Cut(spared []netip.Addr, ssh bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	filter, err := nftables.New()
	if err != nil {
		return err
	}
	table := filter.AddTable(f.table())
	for _, one := range []struct {
		name           string
		hook           *nftables.ChainHook
		device         expr.MetaKey
		v4, v6, remote uint32
	}{
		// Where the other end's address is in the packet's header, and ssh's port of this node.
		{"in", nftables.ChainHookInput, expr.MetaKeyIIF, 12, 8, 2},
		{"out", nftables.ChainHookOutput, expr.MetaKeyOIF, 16, 24, 0},
	} {
		priority := nftables.ChainPriority(beforeOthers)
		chain := filter.AddChain(&nftables.Chain{Name: one.name, Table: table, Type: nftables.ChainTypeFilter, Hooknum: one.hook, Priority: &priority})
		add := func(exprs ...expr.Any) { filter.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: exprs}) }
		accept := &expr.Verdict{Kind: expr.VerdictAccept}
		add(&expr.Meta{Key: one.device, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(loopbackDevice)}, accept)
		for _, address := range spared {
			add(append(fromOrTo(address, one.v4, one.v6), accept)...)
			if address.Is6() {
				// Neighbors find each other by ICMPv6.
				add(&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_ICMPV6}}, accept)
			}
		}
		if ssh {
			add(&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
				&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: one.remote, Len: 2},
				&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(sshPort)}, accept)
		}
		add(&expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop})
	}
	return explained(filter.Flush())
}

// loopbackDevice is the number that the kernel gives the loopback in every network namespace.
const loopbackDevice = 1

// fromOrTo matches packets by the other end's address.
func fromOrTo(address netip.Addr, v4, v6 uint32) []expr.Any {
	family, offset := byte(unix.NFPROTO_IPV4), v4
	if address.Is6() {
		family, offset = unix.NFPROTO_IPV6, v6
	}
	raw := address.AsSlice()
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{family}},
		//nolint:gosec // G115: an address has 4 or 16 bytes.
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: uint32(len(raw))},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: raw},
	}
}

// Mend implements PacketFilter: it removes the table.
func (f *firewall) Mend() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	filter, err := nftables.New()
	if err != nil {
		return err
	}
	filter.DelTable(f.table())
	if err := filter.Flush(); err != nil && !errors.Is(err, syscall.ENOENT) {
		return explained(err)
	}
	return nil
}

// Dropped implements PacketFilter.
func (f *firewall) Dropped() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	filter, err := nftables.New()
	if err != nil {
		return 0, err
	}
	total := uint64(0)
	for _, name := range []string{"in", "out"} {
		rules, err := filter.GetRules(f.table(), &nftables.Chain{Name: name, Table: f.table()})
		if err != nil {
			return 0, explained(err)
		}
		for _, rule := range rules {
			for _, one := range rule.Exprs {
				if counter, ok := one.(*expr.Counter); ok {
					total += counter.Packets
				}
			}
		}
	}
	return int64(total), nil
}

// explained says what a kernel lacks that knows no nftables.
func explained(err error) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EPROTONOSUPPORT) {
		return fmt.Errorf("the node's kernel does not let the agent filter packets (nftables, and the capability NET_ADMIN): %w", err)
	}
	return err
}
