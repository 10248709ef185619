//go:build linux

package agent

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
)

// The packet filter itself needs root and a network of one's own: what is tested
// here is what it is asked, and what is made of its answers.

func TestDefaultRoute(t *testing.T) {
	const head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
	for _, tc := range []struct{ name, table, device, gateway, want string }{
		{"a node's", head + "eth0\t00000000\t010013AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\neth0\t000013AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n", "eth0", "172.19.0.1", ""},
		{"after others", head + "lo\t0000007F\t00000000\t0001\neth1\t00000000\t0100000A\t0003\n", "eth1", "10.0.0.1", ""},
		{"none", head + "eth0\t000013AC\t00000000\t0001\n", "", "", "no default route"},
		{"no address", head + "eth0\t00000000\tnonsense\t0003\n", "", "", "no default route"},
		{"empty", "", "", "", "no default route"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			device, gateway, err := defaultRoute(tc.table)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || device != tc.device || gateway.String() != tc.gateway {
				t.Errorf("%s by %s, %v; want %s by %s", gateway, device, err, tc.gateway, tc.device)
			}
		})
	}
}

func TestRules(t *testing.T) {
	var got []string
	for _, rule := range rules(netip.MustParseAddr("10.0.0.2")) {
		got = append(got, strings.Join(rule, " "))
	}
	const unmarked = " -m mark ! --mark 59361 -j REDIRECT --to-ports "
	want := []string{
		"-t nat -A OUTPUT -p tcp -d 127.0.0.1 --dport 2379" + unmarked + "18379",
		"-t nat -A OUTPUT -p tcp -d 10.0.0.2 --dport 6443" + unmarked + "18443",
		"-t nat -A OUTPUT -p tcp ! -d 10.0.0.2 --dport 2380" + unmarked + "18380",
		"-t nat -A PREROUTING -p tcp -d 10.0.0.2 --dport 2380" + unmarked + "18381",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rules are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// fakeFilter is an iptables on the PATH that writes down what it is asked, fails
// at what a file names, and lists what another has.
type fakeFilter struct {
	t   *testing.T
	dir string
}

func useFakeFilter(t *testing.T) *fakeFilter {
	t.Helper()
	f := &fakeFilter{t, t.TempDir()}
	const script = `#!/bin/sh
cd "${0%/*}"
shift
case "$1" in
--list) if [ "$2" = INPUT ]; then cat list; fi; exit 0 ;;
esac
echo "$*" >> asked
if [ -e failing ] && [ "$1 $2" = "$(cat failing)" ]; then echo "no such luck" >&2; exit 4; fi
exit 0
`
	if err := os.WriteFile(filepath.Join(f.dir, "iptables"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f.write("list", "")
	t.Setenv("PATH", f.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return f
}

func (f *fakeFilter) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// asked gives the commands since it was asked last.
func (f *fakeFilter) asked() []string {
	path := filepath.Join(f.dir, "asked")
	raw, _ := os.ReadFile(path)
	if err := os.RemoveAll(path); err != nil {
		f.t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(raw)), " ", "_"))
}

const (
	inward  = "_INPUT_!_-i_lo_!_-s_10.0.0.1_-j_DROP"
	outward = "_OUTPUT_!_-o_lo_!_-d_10.0.0.1_-j_DROP"
)

func testLinks() *links {
	return &links{
		gateway:  netip.MustParseAddr("10.0.0.1"),
		byName:   map[cluster.Link]*link.Link{cluster.LinkEtcd: link.New(1, "cp1/etcd")},
		requests: &requests{},
	}
}

func TestSeverance(t *testing.T) {
	filter, l := useFakeFilter(t), testLinks()
	cut := func(wanted bool) {
		t.Helper()
		if err := l.set(t.Context(), cluster.LinkNode, cluster.Shape{Cut: wanted}); err != nil {
			t.Fatal(err)
		}
	}
	dropped := func(want int64) {
		t.Helper()
		if stats, err := l.stats(t.Context(), cluster.LinkNode); err != nil || stats.Withheld != want {
			t.Errorf("withheld %d, %v; want %d", stats.Withheld, err, want)
		}
	}
	dropped(0)
	cut(false)
	cut(true)
	cut(true)
	if got := filter.asked(); !slices.Equal(got, []string{"-I" + inward, "-I" + outward}) {
		t.Errorf("asked %q", got)
	}
	filter.write("list", "Chain INPUT (policy ACCEPT 9 packets, 9 bytes)\n    pkts      bytes target     prot opt in     out     source               destination\n      17     1020 DROP       all  --  !lo    *      !10.0.0.1            0.0.0.0/0\n       5      300 ACCEPT     all  --  *      *       0.0.0.0/0            0.0.0.0/0\n")
	dropped(17)
	cut(false)
	if got := filter.asked(); !slices.Equal(got, []string{"-D" + inward, "-D" + outward}) {
		t.Errorf("asked %q", got)
	}
	// The kernel's counters went with the rules.
	filter.write("list", "")
	dropped(17)
	cut(true)
	filter.write("list", "      3     180 DROP  all\n")
	dropped(20)
	filter.write("list", "      many     180 DROP  all\n")
	if _, err := l.stats(t.Context(), cluster.LinkNode); err == nil || !strings.Contains(err.Error(), "iptables lists") {
		t.Errorf("error %v", err)
	}
}

func TestHalfASeveranceIsTakenAway(t *testing.T) {
	filter, l := useFakeFilter(t), testLinks()
	filter.write("failing", "-I OUTPUT")
	err := l.set(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true})
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 4: no such luck") {
		t.Errorf("error %v", err)
	}
	if got := filter.asked(); !slices.Equal(got, []string{"-I" + inward, "-I" + outward, "-D" + inward, "-D" + outward}) {
		t.Errorf("asked %q", got)
	}
	if stats, err := l.stats(t.Context(), cluster.LinkNode); err != nil || stats.Withheld != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestWhatALinkCannotDo(t *testing.T) {
	l := testLinks()
	for _, tc := range []struct {
		link  cluster.Link
		shape cluster.Shape
	}{
		{cluster.LinkNode, cluster.Shape{Latency: time.Second}},
		{cluster.LinkNode, cluster.Shape{Jitter: time.Second}},
		{cluster.LinkNode, cluster.Shape{Cut: true, Only: cluster.ToServer}},
		{"moon", cluster.Shape{Cut: true}},
	} {
		if err := l.set(context.Background(), tc.link, tc.shape); !errors.Is(err, cluster.ErrUnsupported) {
			t.Errorf("%s %+v: %v", tc.link, tc.shape, err)
		}
	}
	if _, err := l.stats(context.Background(), "moon"); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}
