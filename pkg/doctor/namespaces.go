package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/ownhost"
)

// namespaceSettings are by which users are kept from making user namespaces, each with what
// allows them.
var namespaceSettings = []struct {
	setting string
	denies  func(value int) bool
	allow   string
}{
	{"user.max_user_namespaces", func(v int) bool { return v == 0 }, "1000"},
	{"kernel.unprivileged_userns_clone", func(v int) bool { return v == 0 }, "1"},
	{"kernel.apparmor_restrict_unprivileged_userns", func(v int) bool { return v != 0 }, "0"},
}

// hostNames tells whether processes can be given host names of their own, by which the API
// servers of Kubernetes tell each other apart.
func hostNames(ctx context.Context, proc string, try func(context.Context) error) cluster.Finding {
	f := cluster.Finding{What: "namespaces for host names", OK: true, Detail: "can be made"}
	err := try(ctx)
	if err == nil {
		return f
	}
	f.OK = false
	var wrong []string
	for _, one := range namespaceSettings {
		value, err := number(filepath.Join(proc, "sys", strings.ReplaceAll(one.setting, ".", "/")))
		if err == nil && one.denies(value) {
			wrong = append(wrong, one.setting+"="+one.allow)
		}
	}
	remedy := "run evenkeel as root, or in a container with CAP_SYS_ADMIN"
	if len(wrong) > 0 {
		remedy = fmt.Sprintf("run `sysctl -w %s` as root, or evenkeel as root", strings.Join(wrong, " "))
	}
	f.Detail = fmt.Sprintf("cannot be made (%s), and members of Kubernetes on local processes need them: %s", strings.ReplaceAll(err.Error(), "\n", "; "), remedy)
	return f
}

// tryHostName starts a program that does nothing on a host of another name.
func tryHostName(ctx context.Context) error { return ownhost.Try(ctx) }
