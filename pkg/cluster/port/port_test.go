package port

import (
	"net"
	"strconv"
	"testing"
)

func TestPortsOfOneClusterStayItsOwn(t *testing.T) {
	var first, second Source
	defer first.Close()
	defer second.Close()
	number := open(t, &first)
	if low, ok := ephemeralLow(); !ok || low <= lastFree {
		t.Skip("the kernel gives these ports to connections")
	}
	block := number - (number-firstFree)%blockSize
	if second.claim(block) {
		t.Errorf("the block at %d was claimed twice", block)
	}
	if other := open(t, &second); other-(other-firstFree)%blockSize == block {
		t.Errorf("port %d is of the block at %d, which another cluster has", other, block)
	}
	// More than a block: the second is its own too.
	for range blockSize {
		open(t, &first)
	}
	if len(first.claims) != 2 {
		t.Errorf("%d blocks for %d ports", len(first.claims), blockSize+1)
	}
	first.Close()
	if !second.claim(block) {
		t.Errorf("the block at %d was not given up", block)
	}
}

func TestFixedPortsClaimNothing(t *testing.T) {
	free := open(t, &Source{})
	fixed := Source{Next: free}
	if number := open(t, &fixed); number != free || len(fixed.claims) != 0 {
		t.Errorf("port %d, %d claims, for the fixed port %d", number, len(fixed.claims), free)
	}
}

// open opens the next port and frees it again.
func open(t *testing.T, from *Source) int {
	t.Helper()
	one, err := New(from)
	if err != nil {
		t.Fatal(err)
	}
	one.Release()
	_, digits, err := net.SplitHostPort(one.Address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return number
}
