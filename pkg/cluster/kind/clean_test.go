//go:build linux

package kind

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func TestLabelOfAnOwner(t *testing.T) {
	self, err := state.Self("run")
	if err != nil {
		t.Fatal(err)
	}
	// Its purpose is nothing that a clean-up asks for.
	self.Purpose = ""
	if read := ownerOf(labelOf(self)); read != self || !read.Alive() {
		t.Errorf("%q is %+v, want %+v", labelOf(self), read, self)
	}
	for _, label := range []string{"", "1", "1-2", "x-2-boot", "1-x-boot", "--"} {
		if read := ownerOf(label); read != (state.Owner{}) || read.Alive() {
			t.Errorf("%q is %+v", label, read)
		}
	}
}

func TestLeftovers(t *testing.T) {
	self, err := state.Self("run")
	if err != nil {
		t.Fatal(err)
	}
	dead := self
	dead.StartTime--
	engine := useFakeDocker(t)
	engine.says("network-ls", "mine-1 "+labelOf(self)+"\ndead-2 "+labelOf(dead)+"\nodd-3 nonsense\nnobody-4 \n")
	// What cannot be told to live is left over: it carries our label.
	ids, err := Provider{}.Leftovers(t.Context())
	if err != nil || !slices.Equal(ids, []string{"dead-2", "odd-3"}) {
		t.Errorf("left over are %q, %v", ids, err)
	}
	engine.fails("version", "Cannot connect to the Docker daemon")
	if ids, err := (Provider{}).Leftovers(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("without a daemon %q are left over, %v", ids, err)
	}
	t.Setenv("PATH", os.DevNull)
	if ids, err := (Provider{}).Leftovers(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("without Docker %q are left over, %v", ids, err)
	}
}

func TestClean(t *testing.T) {
	engine := useFakeDocker(t)
	if count, err := (Provider{}).Clean(t.Context(), "c-1"); err != nil || count != 0 {
		t.Errorf("%d removed of nothing, %v", count, err)
	}
	engine.says("ps", "one\ntwo\n")
	engine.says("network-ls", "net\n")
	if count, err := (Provider{}).Clean(t.Context(), "c-1"); err != nil || count != 3 {
		t.Errorf("%d removed, %v", count, err)
	}
	asked := strings.Join(engine.asked(), "\n")
	for _, want := range []string{
		"ps --all --quiet --filter label=io.x-k8s.kind.cluster=c-1\nrm --force --volumes one two\n",
		"network ls --quiet --filter label=dev.evenkeel.cluster=c-1\nnetwork rm net",
	} {
		if !strings.Contains(asked, want) {
			t.Errorf("the engine was asked\n%s\nwhich is without\n%s", asked, want)
		}
	}
	engine.fails("network-rm", "network net has active endpoints\nand so on")
	_, err := Provider{}.Clean(t.Context(), "c-1")
	expectError(t, err, "cannot remove what cluster c-1 has left: docker network rm net failed: exit status 1: network net has active endpoints and so on")
}

func TestNetworkIsMadeTwice(t *testing.T) {
	engine := useFakeDocker(t)
	engine.says("network-inspect", "172.20.0.0/16 172.20.0.1\n")
	if err := makeNetwork(t.Context(), "c-1", "1-2-boot"); err != nil {
		t.Fatal(err)
	}
	const create = "network create --driver bridge --label dev.evenkeel.cluster=c-1 --label dev.evenkeel.owner=1-2-boot "
	want := []string{create + "c-1", "network inspect --format {{with index .IPAM.Config 0}}{{.Subnet}} {{.Gateway}}{{end}} c-1", "network rm c-1", create + "--subnet 172.20.0.0/16 --gateway 172.20.0.1 c-1"}
	if got := engine.asked(); !slices.Equal(got, want) {
		t.Errorf("the engine was asked %q, want %q", got, want)
	}
}
