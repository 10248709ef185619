package apiserver

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/discovery"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

func TestPeersOf(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lease := func(id, address string, renewed time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: id, Annotations: map[string]string{storageversion.PeerAddressAnnotation: address}},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To(id + "_1"), LeaseDurationSeconds: ptr.To[int32](40),
				RenewTime: ptr.To(metav1.NewMicroTime(now.Add(renewed))),
			},
		}
	}
	nobodys := lease("nobodys", "a:1", 0)
	nobodys.Spec.HolderIdentity = nil
	peers, until := peersOf([]*coordinationv1.Lease{
		lease("self", "a:1", 0), lease("early", "b:1", -30*time.Second), lease("late", "c:1", 0),
		lease("expired", "d:1", -time.Minute), lease("alone", "", 0), nobodys,
	}, "self", now)
	want := []discovery.Peer{{ID: "early", Holder: "early_1", Address: "b:1"}, {ID: "late", Holder: "late_1", Address: "c:1"}}
	if !slices.Equal(peers, want) || !until.Equal(now.Add(10*time.Second)) {
		t.Errorf("got %v until %s", peers, until)
	}
	if peers, until := peersOf(nil, "self", now); len(peers) != 0 || !until.IsZero() {
		t.Errorf("without Leases: %v until %s", peers, until)
	}
}

func TestPeerOptions(t *testing.T) {
	complete := Options{
		BindAddress: "127.0.0.1", SecurePort: 6443, PeerCAFile: "ca", ProxyClientCertFile: "cert", ProxyClientKeyFile: "key",
		RequestHeaderClientCAFile: "ca", RequestHeaderAllowedNames: []string{"front-proxy"},
	}
	if err := complete.validatePeers(); err != nil {
		t.Error(err)
	}
	if got := complete.peerAddress(); got != "127.0.0.1:6443" {
		t.Errorf("peers are sent to %s", got)
	}
	for want, change := range map[string]func(*Options){
		"go together":                    func(o *Options) { o.ProxyClientKeyFile = "" },
		"--requestheader-allowed-names":  func(o *Options) { o.RequestHeaderAllowedNames = nil },
		"needs --proxy-client-cert-file": func(o *Options) { o.ProxyClientCertFile, o.ProxyClientKeyFile = "", "" },
		"--requestheader-client-ca-file": func(o *Options) { o.RequestHeaderClientCAFile = "" },
		"is not an IP address":           func(o *Options) { o.PeerAdvertiseIP = "nowhere" },
		"is not a port between":          func(o *Options) { o.PeerAdvertisePort = 70000 },
	} {
		o := complete
		change(&o)
		if err := o.validatePeers(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	complete.PeerAdvertiseIP, complete.PeerAdvertisePort = "10.0.0.1", 443
	if got := complete.peerAddress(); got != "10.0.0.1:443" {
		t.Errorf("peers are sent to %s", got)
	}
	if got := (Options{BindAddress: "127.0.0.1", SecurePort: 6443}).peerAddress(); got != "" {
		t.Errorf("a server without peers publishes the address %s", got)
	}
}

// carried is a transport that remembers the last request.
type carried struct{ last *http.Request }

func (c *carried) RoundTrip(r *http.Request) (*http.Response, error) {
	c.last = r
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// With an authority of its own for proxies, a peer knows a proxy's certificate for no user.
func TestPeersAreAskedInTheNameOfAUser(t *testing.T) {
	var carrier carried
	request := httptest.NewRequest(http.MethodGet, "https://peer/apis", nil)
	for want, d := range map[string]defects.Set{"system:apiserver": nil, "": defects.Of(defects.AD23AsksWithoutUser)} {
		if _, err := plantAsking(asking, d)(&carrier).RoundTrip(request); err != nil {
			t.Fatal(err)
		}
		if got := carrier.last.Header.Get("X-Remote-User"); got != want {
			t.Errorf("with the defects %q peers are asked as %q, want %q", d, got, want)
		}
	}
}
