#!/usr/bin/env bash
# Generates what impl/apis keeps in zz_generated files: deep copies, OpenAPI
# model names and OpenAPI definitions. Run it from anywhere after a change to
# the types under impl/apis/reference or to the resources that are served; the
# results are committed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The generators are not dependencies of this module: they run at a version of
# their own, which fits the k8s.io libraries in go.mod.
code_generator=v0.37.2
kube_openapi=$(go list -m -f '{{.Version}}' k8s.io/kube-openapi)

module=$(go list -m)
reference=$module/impl/apis/reference
header=$(mktemp)
raw=$(mktemp -d ./impl/apis/openapi/raw-XXXXXX)
trap 'rm -rf "$header" "$raw"' EXIT

echo "deep copies"
go run "k8s.io/code-generator/cmd/deepcopy-gen@$code_generator" \
  --go-header-file "$header" --output-file zz_generated.deepcopy.go \
  "$reference" "$reference/v1alpha1" "$reference/v1beta1" "$reference/v1"

# The published groups that are served and that no library brings definitions
# for, and the packages that their types refer to.
published=(
  k8s.io/apimachinery/pkg/apis/meta/v1
  k8s.io/apimachinery/pkg/runtime
  k8s.io/apimachinery/pkg/util/intstr
  k8s.io/api/apiserverinternal/v1alpha1
  k8s.io/api/authentication/v1
  k8s.io/api/authorization/v1
  k8s.io/api/coordination/v1
  k8s.io/api/coordination/v1alpha2
  k8s.io/api/coordination/v1beta1
  k8s.io/api/core/v1
  k8s.io/api/discovery/v1
  k8s.io/api/storagemigration/v1
  k8s.io/api/storagemigration/v1beta1
)
readonly_flags=()
for package in "${published[@]}"; do readonly_flags+=(--readonly-pkg "$package"); done

echo "OpenAPI definitions"
go run "k8s.io/kube-openapi/cmd/openapi-gen@$kube_openapi" \
  --go-header-file "$header" --report-filename "$raw/violations" \
  --output-dir "$raw" --output-pkg "$module/impl/apis/openapi" --output-file all.go \
  --output-model-name-file zz_generated.model_name.go "${readonly_flags[@]}" \
  "$reference/v1alpha1" "$reference/v1beta1" "$reference/v1" "${published[@]}"

# Most of k8s.io/api/core/v1 describes Pods, which the reference does not serve.
go run ./hack/generate/prune -in "$raw/all.go" -out impl/apis/openapi/zz_generated.openapi.go
gofmt -w impl/apis/openapi/zz_generated.openapi.go

echo "reference of the steps of scenarios"
go run ./hack/generate/steps
