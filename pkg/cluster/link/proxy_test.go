package link

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestProxyCarriesWhatItIsGiven(t *testing.T) {
	server, link, dial := echo(t)
	connection := dial()
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // more than fits into one piece
	go func() {
		// Where this fails, less comes back.
		_, _ = connection.Write(sent)
		_ = connection.(*net.TCPConn).CloseWrite()
	}()
	// That all comes back shows that the end of one direction leaves the other
	// open.
	got, err := io.ReadAll(connection)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes came back, %v", len(got), len(sent), err)
	}
	want := cluster.LinkStats{Connections: 1, BytesToServer: int64(len(sent)), BytesToClient: int64(len(sent))}
	if got := link.Stats(); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}

	server.Close()
	// The reset may come before the dial has returned.
	refused, err := net.Dial("tcp", connection.RemoteAddr().String())
	if err != nil {
		return
	}
	defer refused.Close()
	if _, err := refused.Read(make([]byte, 1)); err == nil {
		t.Error("a connection to a server that is gone was not broken")
	}
}

func TestProxyLatency(t *testing.T) {
	_, link, dial := echo(t)
	connection := dial()
	for _, tc := range []struct {
		name  string
		shape cluster.Shape
		least time.Duration // how long it takes on a busy machine is not known
	}{
		{"healthy", cluster.Shape{}, 0},
		{"latency", cluster.Shape{Latency: 100 * time.Millisecond}, 200 * time.Millisecond},
		{"jitter", cluster.Shape{Latency: 50 * time.Millisecond, Jitter: 50 * time.Millisecond}, 100 * time.Millisecond},
		{"healed", cluster.Shape{}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			link.Set(tc.shape)
			before := link.Stats().Delayed
			began := time.Now()
			bounce(t, connection, "hello")
			if took := time.Since(began); took < tc.least {
				t.Errorf("there and back took %s, want %s or more", took, tc.least)
			}
			want := int64(0)
			if tc.shape.Latency > 0 {
				want = 2 // one piece each way
			}
			if got := link.Stats().Delayed - before; got != want {
				t.Errorf("the link counted %d pieces as delayed, want %d", got, want)
			}
		})
	}
	t.Run("healing frees what is under way", func(t *testing.T) {
		link.Set(cluster.Shape{Latency: time.Hour})
		write(t, connection, "hello")
		link.Set(cluster.Shape{})
		expect(t, connection, "hello")
	})
}

func TestProxyCut(t *testing.T) {
	for _, tc := range []struct {
		name     string
		only     cluster.Direction
		toServer int64 // what of five bytes passes towards the server
	}{
		{"both", "", 0},
		{"to the server", cluster.ToServer, 0},
		{"to the client", cluster.ToClient, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, link, dial := echo(t)
			connection := dial()
			bounce(t, connection, "hello")
			link.Set(cluster.Shape{Cut: true, Only: tc.only})
			write(t, connection, "world")
			eventually(t, "data withheld", func() bool { return link.Stats().Withheld == 1 })
			if got := link.Stats(); got.BytesToServer != 5+tc.toServer || got.BytesToClient != 5 {
				t.Errorf("stats %+v", got)
			}
			fresh := dial()
			eventually(t, "a connection withheld", func() bool { return link.Stats().Withheld == 2 })
			link.Set(cluster.Shape{})
			expect(t, connection, "world")
			bounce(t, fresh, "fresh")
		})
	}
}

// A caller that compares figures from after a cut with later ones must not find that something
// passed, which had only been on its way.
func TestNothingIsCountedAfterACut(t *testing.T) {
	_, link, dial := echo(t)
	connection := dial()
	go io.Copy(io.Discard, connection)
	go func() {
		for {
			if _, err := connection.Write([]byte("without pause")); err != nil {
				return
			}
		}
	}()
	for range 200 {
		healthy := link.Stats()
		eventually(t, "bytes carried", func() bool { return link.Stats().BytesToServer > healthy.BytesToServer })
		link.Set(cluster.Shape{Cut: true})
		before := link.Stats()
		eventually(t, "bytes withheld", func() bool { return link.Stats().Withheld > healthy.Withheld })
		if after := link.Stats(); after.BytesToServer != before.BytesToServer || after.BytesToClient != before.BytesToClient {
			t.Fatalf("%+v after the cut, and then %+v", before, after)
		}
		link.Set(cluster.Shape{})
	}
}

func TestJitterRepeatsWithTheSeed(t *testing.T) {
	one, same, other := New(1, "a"), New(1, "a"), New(1, "b")
	first := one.draw()
	if again := same.draw(); again != first {
		t.Errorf("the same seed gives %v and %v", first, again)
	}
	if other.draw() == first {
		t.Error("two links share one sequence")
	}
}

func TestProxyStopEndsEverything(t *testing.T) {
	_, link, dial := echo(t)
	open := dial()
	bounce(t, open, "hello")
	link.Set(cluster.Shape{Cut: true})
	write(t, open, "hello")
	dial()
	eventually(t, "both to be withheld", func() bool { return link.Stats().Withheld == 2 })
	// The clean-up of echo stops the proxy and waits for all of it.
}

// echo gives a server that sends back what it gets, and a proxy before it.
func echo(t *testing.T) (net.Listener, *Link, func() net.Conn) {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			connection, err := server.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(connection, connection); connection.Close() }()
		}
	}()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	one := New(1, "test")
	p := NewProxy(front, To(server.Addr().String()), func(net.Addr) []*Link { return []*Link{one} })
	p.Start()
	t.Cleanup(func() { server.Close(); p.Stop() })
	return server, one, func() net.Conn {
		t.Helper()
		connection, err := net.Dial("tcp", front.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		return connection
	}
}

func bounce(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	write(t, connection, text)
	expect(t, connection, text)
}

func write(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(connection, text); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	if err := connection.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(connection, got); err != nil || string(got) != text {
		t.Fatalf("got %q, %v, want %q", got, err, text)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
