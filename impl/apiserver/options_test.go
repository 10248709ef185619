package apiserver

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

func TestOptionsValidate(t *testing.T) {
	valid := Options{
		ServerID: "api-1", BindAddress: "127.0.0.1", SecurePort: 6443,
		TLSCertFile: "a", TLSKeyFile: "b", ClientCAFile: "c",
		EtcdServers: []string{"https://127.0.0.1:2379"}, EtcdCAFile: "d", EtcdCertFile: "e", EtcdKeyFile: "f",
		IdentityLeaseDuration: 40 * time.Second, IdentityLeaseRenewInterval: 5 * time.Second,
	}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		flag   string
		change func(*Options)
	}{
		{"--server-id", func(o *Options) { o.ServerID = "No_Name" }},
		{"--apiserver-count", func(o *Options) { o.APIServerCount = -1 }},
		{"--bind-address", func(o *Options) { o.BindAddress = "localhost" }},
		{"--secure-port", func(o *Options) { o.SecurePort = 70000 }},
		{"--etcd-servers", func(o *Options) { o.EtcdServers = nil }},
		{"--etcd-keyfile", func(o *Options) { o.EtcdKeyFile = "" }},
		{"--identity-lease-duration", func(o *Options) { o.IdentityLeaseDuration = time.Millisecond }},
		{"--identity-lease-renew-interval", func(o *Options) { o.IdentityLeaseRenewInterval = time.Minute }},
	}
	for _, test := range tests {
		o := valid
		test.change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), test.flag) {
			t.Errorf("%s: got %v, want an error that names the flag", test.flag, err)
		}
	}
}

func TestDiscoveryIsOfferedUntilItIsSwitchedOff(t *testing.T) {
	o := Options{Release: release.Release{Discovery: []string{"v2"}}}
	if got := o.offered(); len(got) != 1 {
		t.Errorf("offered %v", got)
	}
	o.WithoutAggregatedDiscovery = true
	if got := plantOptions(o).offered(); got != nil {
		t.Errorf("switched off, offered %v", got)
	}
	o.Defects = defects.Of(defects.AD27ServesOn)
	if got := plantOptions(o).offered(); len(got) != 1 {
		t.Errorf("with the defect, offered %v", got)
	}
}
