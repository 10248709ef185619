//go:build linux

package kind

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestClientsOfEtcdLeaveBeforeItEnds(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	m := &member{etcd: listener.Addr().(*net.TCPAddr).Port, away: map[cluster.Component]bool{}}
	served := make(chan net.Conn, 2)
	go func() {
		for range cap(served) {
			one, err := listener.Accept()
			if err != nil {
				return
			}
			served <- one
		}
	}()
	kept, err := m.dialEtcd(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := m.dialEtcd(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if len(m.etcdClients.open) != 1 {
		t.Errorf("%d connections are known, want the one that is open", len(m.etcdClients.open))
	}
	m.setAway(cluster.Etcd, true)
	m.etcdClients.leave()
	for range cap(served) {
		if _, err := (<-served).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("etcd sees %v, want the end", err)
		}
	}
	if _, err := kept.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlived it")
	}
	if _, err := m.dialEtcd(t.Context(), ""); err == nil {
		t.Error("an etcd that was taken away could be dialed")
	}
}
