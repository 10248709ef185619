package external

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// standIns are programs of a node, and of this machine, as far as the drivers use them. The node is the folder
// of its address below $PLANE, and kubelet, below, is what runs its static Pods.
var standIns = map[string]string{
	// ssh notes its arguments, and runs the command with the node's folder in the place of /.
	"ssh": `#!/bin/sh
printf '%s\n' "$*" | head -n 1 >>"$PLANE/ssh.log"
while [ "$1" != -- ]; do shift; done
NODE="$PLANE/$2"; export NODE
if [ -e "$NODE/unreachable" ]; then echo "ssh: connect to host $2 port 22: Connection refused" >&2; exit 255; fi
exec /bin/sh -c "$(printf '%s' "$3" | sed -e "s#/etc/#$NODE/etc/#g" -e "s#/sys/#$NODE/sys/#g")"
`,
	"sudo": `#!/bin/sh
[ "$1" = -n ] || exit 1
shift; exec "$@"
`,
	"crictl": `#!/bin/sh
case "$*" in
"ps --quiet") ;;
"ps --quiet --label io.kubernetes.pod.namespace=kube-system --label io.kubernetes.container.name="*)
  name=${*##*=}
  if [ -e "$NODE/run/$name" ]; then echo "id-of-$name"; fi ;;
"inspect --output go-template --template {{.info.pid}} id-of-kube-apiserver") cat "$NODE/run/kube-apiserver" ;;
*) echo "crictl: $*" >&2; exit 1 ;;
esac
`,
	// systemctl runs the services k3s and rke2-server, at the release that was installed last.
	"systemctl": `#!/bin/sh
manifest="$NODE/etc/kubernetes/manifests/kube-apiserver.yaml"
case "$*" in
daemon-reload) ;;
"show --property MainPID --value k3s") cat "$NODE/run/kube-apiserver" ;;
"stop k3s") rm "$manifest" ;;
"stop rke2-server") touch "$NODE/kubelet-off" ;;
"start k3s" | "start rke2-server" | "restart k3s" | "restart rke2-server")
  rm -f "$NODE/kubelet-off"
  cp "$NODE/installed" "$manifest.new"; mv "$manifest.new" "$manifest" ;;
*) echo "systemctl: $*" >&2; exit 1 ;;
esac
`,
	// curl fetches the install script of K3s, which loses how the server was set up, or of RKE2.
	"curl": `#!/bin/sh
case "$*" in
"-sfL https://get.k3s.io -o "*) cat >"$4" <<'END'
[ "$INSTALL_K3S_SKIP_START" = true ] || exit 1
echo lost >"$NODE/etc/systemd/system/k3s.service"
echo lost >"$NODE/etc/systemd/system/k3s.service.env"
[ ! -e "$NODE/no-download" ] || exit 1
echo "$INSTALL_K3S_VERSION" >"$NODE/installed"
END
;;
"-sfL https://get.rke2.io -o "*) echo 'echo "$INSTALL_RKE2_VERSION" >"$NODE/installed"' >"$4" ;;
*) exit 1 ;;
esac
`,
	// talosctl notes its arguments, and takes a node to a release when the last component gets it.
	"talosctl": `#!/bin/sh
printf '%s\n' "$*" >>"$PLANE/talosctl.log"
NODE="$PLANE/$4"
case "$*" in
*" patch machineconfig --mode=no-reboot --patch "*kube-apiserver:*)
  manifest="$NODE/etc/kubernetes/manifests/kube-apiserver.yaml"
  printf '%s' "$*" | sed 's/.*kube-apiserver:\(v[0-9.]*\)".*/\1/' >"$manifest.new"; mv "$manifest.new" "$manifest" ;;
*" patch machineconfig --mode=no-reboot --patch "*) ;;
*" shutdown --force --wait") touch "$NODE/kubelet-off"; kill "$(cat "$NODE/run/kube-apiserver")" ;;
*" reboot --mode force --wait=false") kill -KILL "$(cat "$NODE/run/kube-apiserver")" ;;
*) exit 1 ;;
esac
`,
	"apt-mark": "#!/bin/sh\n",
	"apt-get": `#!/bin/sh
case "$*" in
update) grep -q 'core:/stable:/v1.36/' "$NODE/etc/apt/sources.list.d/kubernetes.list" || exit 100 ;;
"install -y kubeadm="*) package=${3#kubeadm=}; echo "${package%-\*}" >"$NODE/kubeadm-package" ;;
*) exit 1 ;;
esac
`,
	// kubeadm keeps the release of the cluster in the cluster, as the real one does.
	"kubeadm": `#!/bin/sh
case "$*" in
"upgrade apply --yes "*) [ "v$(cat "$NODE/kubeadm-package")" = "$4" ] || exit 1; echo "$4" >"$PLANE/kubeadm-config" ;;
"upgrade node") [ "v$(cat "$NODE/kubeadm-package")" = "$(cat "$PLANE/kubeadm-config")" ] || exit 1 ;;
*) exit 1 ;;
esac
cp "$PLANE/kubeadm-config" "$NODE/etc/kubernetes/manifests/kube-apiserver.yaml.new"
mv "$NODE/etc/kubernetes/manifests/kube-apiserver.yaml.new" "$NODE/etc/kubernetes/manifests/kube-apiserver.yaml"
`,
}

// nodes gives the plane's members nodes with stand-ins for ssh and the programs of a node, and a
// driver.
func (p *plane) nodes(driver string) *plane {
	p.t.Helper()
	p.driver = driver
	bin := filepath.Join(p.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		p.t.Fatal(err)
	}
	for name, script := range standIns {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			p.t.Fatal(err)
		}
	}
	p.t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p.t.Setenv("PLANE", p.dir)
	// The kubelets outlive the test's context: as a cluster is stopped it waits for members.
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	ended := make(chan struct{}, len(p.members))
	for _, member := range p.members {
		k := &kubelet{plane: p, member: member, node: filepath.Join(p.dir, "node-"+member)}
		for _, folder := range []string{"etc/kubernetes/manifests", "etc/apt/sources.list.d", "etc/systemd/system", "run", "sys/fs/cgroup/kubepods.slice"} {
			if err := os.MkdirAll(filepath.Join(k.node, folder), 0o700); err != nil {
				p.t.Fatal(err)
			}
		}
		release := cmp.Or(append(p.releases, "v1.35.4")...)
		p.put("node-"+member+"/etc/kubernetes/manifests/kube-apiserver.yaml", release)
		p.put("node-"+member+"/installed", release)
		p.put("node-"+member+"/etc/systemd/system/k3s.service", "server --cluster-init")
		p.put("node-"+member+"/etc/apt/sources.list.d/kubernetes.list", "deb https://pkgs.k8s.io/core:/stable:/v1.35/deb/ /")
		k.sync()
		go func() {
			k.run(ctx)
			ended <- struct{}{}
		}()
	}
	p.t.Cleanup(func() {
		cancel()
		for range p.members {
			<-ended
		}
	})
	return p
}

// kubelet runs the API server of a node whose manifest is there: a process that sleeps, and what
// the plane's files say for it.
type kubelet struct {
	plane        *plane
	member, node string
	process      *exec.Cmd
	exited       chan struct{}
	runs         string // the content of the manifest that the process runs
	started      int
}

// kubeletLook is the pause between two looks at the manifests.
const kubeletLook = 2 * time.Millisecond

func (k *kubelet) run(ctx context.Context) {
	ticker := time.NewTicker(kubeletLook)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			k.sync()
		case <-ctx.Done():
			k.end()
			return
		}
	}
}

func (k *kubelet) sync() {
	manifest := k.plane.read("node-" + k.member + "/etc/kubernetes/manifests/kube-apiserver.yaml")
	if k.process != nil {
		select {
		case <-k.exited:
			k.end()
		default:
			k.freeze()
		}
	}
	if k.process != nil && manifest != k.runs {
		k.end()
	}
	// Without a kubelet nothing is started.
	if k.process == nil && manifest != "" && !k.plane.there("node-"+k.member+"/kubelet-off") {
		k.start(manifest)
	}
}

func (k *kubelet) start(manifest string) {
	k.process, k.exited, k.runs = exec.Command("sleep", "600"), make(chan struct{}), manifest
	if err := k.process.Start(); err != nil {
		panic(err)
	}
	go func(process *exec.Cmd, exited chan struct{}) {
		_ = process.Wait()
		close(exited)
	}(k.process, k.exited)
	if k.started++; k.started > 1 {
		k.plane.put(k.member+".start", fmt.Sprint(1800000000+k.started))
	}
	k.plane.put(k.member+".version", manifest)
	k.plane.put("node-"+k.member+"/run/kube-apiserver", fmt.Sprint(k.process.Process.Pid))
	_ = os.Remove(filepath.Join(k.plane.dir, k.member+".down"))
}

// end ends the process, and has the plane answer no more before it tells crictl.
func (k *kubelet) end() {
	if k.process == nil {
		return
	}
	k.plane.put(k.member+".down", "")
	_ = k.process.Process.Kill()
	<-k.exited
	_ = os.Remove(filepath.Join(k.plane.dir, k.member+".frozen"))
	_ = os.Remove(filepath.Join(k.node, "run", "kube-apiserver"))
	k.process, k.runs = nil, ""
}

// freeze has the plane be silent for as long as the process stands still.
func (k *kubelet) freeze() {
	file := filepath.Join(k.plane.dir, k.member+".frozen")
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", k.process.Process.Pid))
	stopped := err == nil && strings.Contains(string(raw), ") T ")
	_, frozen := os.Stat(file)
	switch {
	case stopped && frozen != nil:
		k.plane.put(k.member+".frozen", "")
	case !stopped && frozen == nil:
		_ = os.Remove(file)
	}
}

func (p *plane) sshLog() []string { return strings.Split(p.read("ssh.log"), "\n") }
