//go:build linux

package agent

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// tunnelTo is a tunnel to an address; this test binary is its command, as ssh -W would be.
func tunnelTo(t *testing.T, address string) Dialer {
	t.Helper()
	path, _ := programNamed(t, "tunnel")
	return Tunnel([]string{path}, t.TempDir(), []string{tunnelVariable + "=" + address})
}

func TestTunnel_CarriesTheChannel(t *testing.T) {
	a := serveInstalled(t, configured(t, cluster.RungLook, "none"), nil)
	client := NewRemoteClient("cp1", "r1", tunnelTo(t, a.address), a.secured(HarnessName))
	for range 2 {
		if who, err := client.Who(t.Context()); err != nil || who.Node != "node-1" {
			t.Errorf("%+v, %v", who, err)
		}
	}
}

func TestTunnel_TellsWhyItFails(t *testing.T) {
	a := serveInstalled(t, configured(t, cluster.RungLook, "none"), nil)
	for want, dial := range map[string]Dialer{
		"no such node": Tunnel([]string{"sh", "-c", "echo no such node >&2; exit 1"}, t.TempDir(), nil),
		"/nowhere/ssh": Tunnel([]string{"/nowhere/ssh"}, t.TempDir(), nil),
	} {
		_, err := NewRemoteClient("cp1", "r1", dial, a.secured(HarnessName)).Who(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
