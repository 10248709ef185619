// Package port hands out ports of the loopback to servers that start later.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package port

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Loopback is the address that all ports are on.
const Loopback = "127.0.0.1"

// Source hands out ports of the loopback to one cluster. Each comes with an open
// listener, so that no other process gets it before its server starts. Methods are not
// to be called from several goroutines.
type Source struct {
	// Next is the next fixed port; 0 means any free one.
	Next int
	// claims are held from when a block was chosen until Close; left are the ports
	// of the last block that were not tried so far.
	claims []net.Listener
	left   []int
}

// The ports that free ones are chosen from where the kernel's range of
// ephemeral ports leaves them.
const firstFree, lastFree = 15000, 32767

// blockSize is how many ports a cluster claims at a time, which is enough for fourteen
// members on this machine. The first one is the claim.
const blockSize = 128

// triesForBlock and triesForPort are how many are tried before the kernel chooses.
const triesForBlock, triesForPort = 64, blockSize

// Listen opens the next port; an error says what to do.
func (p *Source) Listen() (net.Listener, error) {
	if p.Next != 0 {
		number := p.Next
		p.Next++
		return listenOn(number)
	}
	// A component's port must still be free when it is started again. Were it
	// an ephemeral one, any connection that is made meanwhile could get it.
	if low, ok := ephemeralLow(); ok && low > lastFree {
		for range triesForPort {
			if len(p.left) == 0 && !p.claimAny() {
				break
			}
			number := p.left[0]
			p.left = p.left[1:]
			if listener, err := listenOn(number); err == nil {
				return listener, nil
			}
		}
	}
	return listenOn(0)
}

// claimAny claims some block. Runs beside each other would else take a port away
// while its server is down, or has not started yet.
func (p *Source) claimAny() bool {
	for range triesForBlock {
		if p.claim(firstFree + blockSize*rand.IntN((lastFree+1-firstFree)/blockSize)) {
			return true
		}
	}
	return false
}

// claim claims the block that begins with a port, unless another process has done so. The
// listener is the claim: it ends with this process, however that ends.
func (p *Source) claim(first int) bool {
	listener, err := listenOn(first)
	if err != nil {
		return false
	}
	p.claims = append(p.claims, listener)
	for number := first + 1; number < first+blockSize; number++ {
		p.left = append(p.left, number)
	}
	return true
}

// Close gives up what was claimed, when nothing of the cluster runs any more.
func (p *Source) Close() {
	for _, one := range p.claims {
		_ = one.Close() // the kernel frees the port in any case
	}
	p.claims, p.left = nil, nil
}

func listenOn(number int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(Loopback, strconv.Itoa(number)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is in use: end the process that listens there or choose another spec.settings.basePort (%w)", number, err)
	}
	return listener, err
}

// ephemeralLow is the first port that the kernel gives to connections.
func ephemeralLow() (int, bool) {
	raw, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(raw))
	if len(fields) == 0 {
		return 0, false
	}
	low, err := strconv.Atoi(fields[0])
	return low, err == nil
}

// Slot is the port of one server of a component. It is held by a listener
// until the server is started for the first time.
type Slot struct {
	Address string
	held    net.Listener
}

// New takes the next port of the source.
func New(from *Source) (*Slot, error) {
	listener, err := from.Listen()
	if err != nil {
		return nil, err
	}
	return &Slot{Address: listener.Addr().String(), held: listener}, nil
}

// Release frees the port for the server that is about to start.
func (s *Slot) Release() {
	if s.held != nil {
		_ = s.held.Close() // the kernel frees the port in any case
		s.held = nil
	}
}

// URL of the server.
func (s *Slot) URL() string { return "https://" + s.Address }

// Port is the number, in digits.
func (s *Slot) Port() string {
	_, port, _ := net.SplitHostPort(s.Address)
	return port
}

// Address is a port of the loopback as it is dialed.
func Address(number int) string { return net.JoinHostPort(Loopback, strconv.Itoa(number)) }
