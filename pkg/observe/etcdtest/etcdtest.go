// Package etcdtest has a real etcd for tests.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package etcdtest

import (
	"net/url"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// Start starts an etcd of one member, which ends with the test, and gives what reaches it:
// over loopback and without certificates.
func Start(t *testing.T) clientv3.Config {
	t.Helper()
	config := embed.NewConfig()
	config.Dir, config.LogLevel = t.TempDir(), "panic"
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{free}, []url.URL{free}
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	<-server.Server.ReadyNotify()
	return clientv3.Config{Endpoints: []string{server.Clients[0].Addr().String()}}
}
