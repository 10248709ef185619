package local

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

const loopback = "127.0.0.1"

// ports hands out ports of the loopback. Each comes with an open listener, so
// that nobody else gets it before its server starts.
type ports struct {
	// next is the next fixed port; 0 means any free one.
	next int
}

// The ports that free ones are chosen from where the kernel's range of
// ephemeral ports leaves them.
const firstFree, lastFree = 15000, 32767

// triesForPort is how many ports are tried before the kernel chooses.
const triesForPort = 64

func (p *ports) listen() (net.Listener, error) {
	if p.next != 0 {
		number := p.next
		p.next++
		return listenOn(number)
	}
	// A component's port must still be free when it is started again. Were it
	// an ephemeral one, any connection that is made meanwhile could get it.
	if low, ok := ephemeralLow(); ok && low > lastFree {
		for range triesForPort {
			if listener, err := listenOn(firstFree + rand.IntN(lastFree-firstFree)); err == nil {
				return listener, nil
			}
		}
	}
	return listenOn(0)
}

func listenOn(number int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(number)))
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

// slot is the port of one server of a component. It is held by a listener
// until the server is started for the first time.
type slot struct {
	address string
	held    net.Listener
}

func newSlot(from *ports) (*slot, error) {
	listener, err := from.listen()
	if err != nil {
		return nil, err
	}
	return &slot{address: listener.Addr().String(), held: listener}, nil
}

// release frees the port for the server that is about to start.
func (s *slot) release() {
	if s.held != nil {
		s.held.Close()
		s.held = nil
	}
}

func (s *slot) url() string { return "https://" + s.address }

func (s *slot) port() string {
	_, port, _ := net.SplitHostPort(s.address)
	return port
}
