package etcd

import (
	"strings"
	"testing"
)

func options() Options {
	return Options{
		Name: "cp1", DataDir: "data", ClusterToken: "token", InitialCluster: "cp1=https://127.0.0.1:2",
		ListenClientURL: "https://127.0.0.1:1", AdvertiseClientURL: "https://127.0.0.1:11",
		ListenPeerURL: "https://127.0.0.1:2", AdvertisePeerURL: "https://127.0.0.1:12",
		CAFile: "ca", CertFile: "cert", KeyFile: "key",
	}
}

func TestConfig(t *testing.T) {
	config, err := options().config()
	if err != nil {
		t.Fatal(err)
	}
	if got := config.ListenClientUrls[0].Host; got != "127.0.0.1:1" {
		t.Errorf("listens for clients on %s", got)
	}
	if got := config.AdvertisePeerUrls[0].Host; got != "127.0.0.1:12" {
		t.Errorf("advertises %s to peers", got)
	}
	if !config.ClientTLSInfo.ClientCertAuth || !config.PeerTLSInfo.ClientCertAuth {
		t.Error("a client without a certificate may connect")
	}
}

func TestConfigRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		names  string
	}{
		"no name":        {func(o *Options) { o.Name = "" }, "--name"},
		"no certificate": {func(o *Options) { o.CertFile = "" }, "--cert-file"},
		"plain text":     {func(o *Options) { o.ListenClientURL = "http://127.0.0.1:1" }, "--listen-client-url"},
		"not a URL":      {func(o *Options) { o.AdvertisePeerURL = "127.0.0.1:12" }, "--advertise-peer-url"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := options()
			test.change(&o)
			if _, err := o.config(); err == nil || !strings.Contains(err.Error(), test.names) {
				t.Errorf("got %v, want an error about %s", err, test.names)
			}
		})
	}
}
