//go:build linux

package kind

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
)

func TestTrialArguments_RunTheContainerOfThePodInTheNode(t *testing.T) {
	path := &corev1.HostPathVolumeSource{Path: "/etc/kubernetes/pki"}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Image: "i:1", Command: []string{"kube-apiserver", "--a=b"}, VolumeMounts: []corev1.VolumeMount{{Name: "pki", MountPath: "/pki"}}}},
		Volumes:    []corev1.Volume{{Name: "other"}, {Name: "pki", VolumeSource: corev1.VolumeSource{HostPath: path}}},
	}}
	want := "exec n ctr --namespace=k8s.io run --rm --net-host --snapshotter=overlayfs --env=EVENKEEL_TRIAL=1 --mount=type=bind,src=/etc/kubernetes/pki,dst=/pki,options=rbind:ro i:1 evenkeel-trial kube-apiserver --a=b"
	if got := strings.Join(trialArguments("n", pod), " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestTrial_TellsHowTheProgramEndedAndWhatItSaid(t *testing.T) {
	engine := useFakeDocker(t)
	file := filepath.Join(t.TempDir(), "cp1-apiserver-trial.log")
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "i:1", Command: []string{"kube-apiserver"}}}}}
	for complaint, want := range map[string]string{"emulation version 99.0 is not between 1.33 and 1.36": "exit status 1", "": "exit status 0"} {
		engine.fails("exec", complaint)
		engine.says("exec", "serving")
		exit, err := trial(t.Context(), "n", pod, file)
		if said := logtail.Lines(file); err != nil || exit != want || len(said) != 1 || said[0] != cmp.Or(complaint, "serving") {
			t.Errorf("%q, %q, %v, want %q", exit, said, err, want)
		}
	}
	if exit, err := trial(t.Context(), "n", pod, filepath.Join(file, "nowhere")); err == nil {
		t.Errorf("%q without a log", exit)
	}
}

var _ cluster.VersionTrier = (*kindCluster)(nil)
