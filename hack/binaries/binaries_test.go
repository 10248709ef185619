package main

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

func TestUnknownReleasesAreRefused(t *testing.T) {
	t.Setenv(kubernetes.CacheVariable, t.TempDir())
	if err := build(t.Context(), []string{"v1.2.3"}); err == nil || !strings.Contains(err.Error(), "v1.2.3") {
		t.Errorf("error %v", err)
	}
}
