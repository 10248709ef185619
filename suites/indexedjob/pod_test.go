package indexedjob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

const (
	// freezeBound is how long the kernel may take to stop a process, looked at every freezePoll.
	freezeBound = 10 * time.Second
	freezePoll  = time.Millisecond
)

// pod is one that the stand-in plays.
type pod struct {
	*corev1.Pod
	// index of the Job, and nth the number of the Pod among those of the index.
	index, nth int
	// running is closed when there is a process, and ended when the Pod has ended.
	running, ended chan struct{}
	process        *os.Process
	// status that the process has ended with: 128 and the signal where one ended it, as for
	// a kubelet.
	status int
	// stop gets how long the process may take to end, once.
	stop chan time.Duration
	// lost is whether Kubernetes has given up the machine of the Pod.
	lost atomic.Bool
}

func (p *pod) isLost() bool { return p.lost.Load() }

// endWithin has the process end. A machine that Kubernetes has given up does not hear of it.
func (p *pod) endWithin(grace time.Duration) {
	if p.isLost() {
		return
	}
	select {
	case p.stop <- grace:
	default: // it was told already
	}
}

// run runs the command of a Pod, and gives the status that it ended with.
func (k *kubelet) run(ctx context.Context, p *pod) (status int, err error) {
	dir := filepath.Join(k.dir, string(p.UID))
	mounts, err := k.mount(ctx, p, dir)
	if err != nil {
		return 0, err
	}
	container := p.Spec.Containers[0]
	line := append(append([]string(nil), container.Command...), container.Args...)
	if line[0] != "evenkeel" {
		return 0, fmt.Errorf("its command is %q", line)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	command := exec.Command("/proc/self/exe", mounts.inAll(line[1:])...)
	command.Env = append(os.Environ(), fakerun.Variable+"="+script(k.lines[p.index], p.nth, k.program).String(), "TMPDIR="+mounts.in("/tmp"))
	for _, variable := range container.Env {
		command.Env = append(command.Env, variable.Name+"="+mounts.in(valueOf(p.Pod, variable)))
	}
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return 0, err
	}
	p.process = command.Process
	close(p.running)
	k.tell(p, func(object *corev1.Pod) {
		if terminal(object) {
			return // it was given up meanwhile, and a phase that ends a Pod is never taken back
		}
		object.Status.Phase, object.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: p.CreationTimestamp.Time}
	})
	return await(ctx, p, command)
}

// await waits for the end of a process, and ends it as a kubelet does.
func await(ctx context.Context, p *pod, command *exec.Cmd) (status int, err error) {
	exited := make(chan error, 1)
	go func() { exited <- command.Wait() }()
	stop, kill := p.stop, (<-chan time.Time)(nil)
	for {
		select {
		case err = <-exited:
			var failed *exec.ExitError
			if err != nil && !errors.As(err, &failed) {
				return 0, err
			}
			if state := command.ProcessState.Sys().(syscall.WaitStatus); state.Signaled() {
				return 128 + int(state.Signal()), nil
			}
			return command.ProcessState.ExitCode(), nil
		case within := <-stop:
			stop = nil
			_ = p.process.Signal(syscall.SIGTERM) // it may have ended
			timer := time.NewTimer(within)
			defer timer.Stop()
			kill = timer.C
		case <-kill:
			_ = p.process.Kill()
		case <-ctx.Done():
			ctx, kill = context.WithoutCancel(ctx), nil
			_ = p.process.Kill()
		}
	}
}

// valueOf is the value of a variable, which may be a label or an annotation of the Pod.
func valueOf(object *corev1.Pod, variable corev1.EnvVar) string {
	if variable.ValueFrom == nil || variable.ValueFrom.FieldRef == nil {
		return variable.Value
	}
	path := variable.ValueFrom.FieldRef.FieldPath
	for field, of := range map[string]map[string]string{"metadata.annotations": object.Annotations, "metadata.labels": object.Labels} {
		if key, ok := strings.CutPrefix(path, field+"['"); ok {
			return of[strings.TrimSuffix(key, "']")]
		}
	}
	return ""
}

// mounts are the folders of a Pod's volumes, by where the Pod has them.
type mounts map[string]string

// mount makes the folders of the volumes.
func (k *kubelet) mount(ctx context.Context, p *pod, dir string) (mounts, error) {
	all := mounts{}
	of := map[string]string{}
	for _, volume := range p.Spec.Volumes {
		folder := filepath.Join(dir, volume.Name)
		of[volume.Name] = folder
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, err
		}
		switch {
		case volume.ConfigMap != nil:
			object, err := k.client.CoreV1().ConfigMaps(p.Namespace).Get(ctx, volume.ConfigMap.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			for name, content := range object.Data {
				err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
			}
			for name, content := range object.BinaryData {
				err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), content, 0o600))
			}
			if err != nil {
				return nil, err
			}
		case volume.EmptyDir == nil:
			return nil, fmt.Errorf("the stand-in has no volume such as %s", volume.Name)
		}
	}
	for _, mount := range p.Spec.Containers[0].VolumeMounts {
		folder := filepath.Join(of[mount.Name], mount.SubPath)
		all[mount.MountPath] = folder
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// in is where a path of the Pod is here. What is no path in a volume stays as it is.
func (m mounts) in(path string) string {
	for at, folder := range m {
		if rest, ok := strings.CutPrefix(path, at); ok && (rest == "" || rest[0] == '/') {
			return folder + rest
		}
	}
	return path
}

func (m mounts) inAll(paths []string) []string {
	var all []string
	for _, path := range paths {
		all = append(all, m.in(path))
	}
	return all
}

// freeze stops the process of a Pod, as if its machine stood still.
func (p *pod) freeze(ctx context.Context) error {
	if err := p.process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, freezePoll, freezeBound, true, func(context.Context) (bool, error) {
		stat, err := procfs.Read(p.process.Pid)
		return err == nil && stat.Stopped(), err
	})
}

// thaw lets it go on.
func (p *pod) thaw() error { return p.process.Signal(syscall.SIGCONT) }
