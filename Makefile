# What people and CI run. `make e2e` and `make test` need nothing but Go.

GO       ?= go
# Nodes of the kind provider run evenkeel and refplane too, whatever libraries
# they have: both are linked statically.
export CGO_ENABLED = 0
# Without the folder's name in it, what one clone has compiled is of use to all others.
export GOFLAGS += -trimpath
OUT      ?= _out
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  := -X github.com/evenkeel/evenkeel/pkg/command.version=$(VERSION)

.PHONY: all build binaries docker docker-down node-images test race e2e e2e-kind e2e-job e2e-job-kind migrate-install mutation detection bench bench-kind bench-migration bench-discovery bench-election bench-stops skew soak survey reports site picture fuzz mutate-bundles lint generate clean

all: build

## build: bin/evenkeel and bin/refplane; the compiler collects its garbage rarely, which
## takes a quarter less of the processors
build: export GOGC ?= 800
build: export GOMEMLIMIT ?= 4GiB
build:
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/evenkeel .
	$(GO) build -o bin/refplane ./impl/cmd/refplane

## binaries: what the distribution kubernetes runs, built from the Go module proxy
## into the user's cache; RELEASES="v1.35.4 v1.36.3" builds only those
binaries:
	$(GO) run ./hack/binaries $(RELEASES)

## docker: a Docker daemon for the kind provider and what node images are built
## with; on Debian as root it starts from nothing
docker:
	hack/docker/prepare.sh

## docker-down: end the daemon that `make docker` started
docker-down:
	hack/docker/stop.sh

## node-images: images for the kind provider, pulled or else built from source;
## RELEASES="v1.35.4 v1.36.3" makes only those, NEXT=1 also the three images that a
## node is given to be upgraded to the release after the last of them
node-images:
	$(GO) run ./hack/nodeimages $(if $(NEXT),-next) $(RELEASES)

## test: every test that needs neither Docker nor a cluster; with the race detector
## where that does not mean to compile the whole API machinery again
test:
	GO="$(GO)" hack/test.sh

## race: the same, all of it with the race detector
race:
	GO="$(GO)" RACE=all hack/test.sh

## e2e: the main job, a short scenario of each KEP that is judged, and the example for
## e2e-framework, on the local provider with the reference control plane; ALL=1 plays
## every scenario, SAMPLE=N the main job and N that the commit chooses
e2e: build
	SAMPLE="$(SAMPLE)" ALL="$(ALL)" PARALLEL="$(PARALLEL)" hack/e2e.sh "$(OUT)"

## e2e-kind: the main job on kind: the reference, and Kubernetes from RELEASE
## (v1.35.4) to the next release; sets up Docker and node images where they are
## missing
e2e-kind: build docker
	$(GO) run ./hack/nodeimages -next $(or $(RELEASE),v1.35.4)
	RELEASE="$(RELEASE)" hack/e2e-kind.sh "$(OUT)"

## e2e-job: an Indexed Job of 200 indexes on local API servers of Kubernetes v1.35.4, with a
## stand-in for the kubelet; builds that release where it is not built
e2e-job:
	$(GO) run ./hack/binaries v1.35.4
	$(GO) test ./suites/indexedjob -count 1 -v -timeout 20m

## e2e-job-kind: an Indexed Job of six scenarios and two seeds on kind with one node, of which
## Pods are deleted and the node is stopped; SEED chooses the moments, CPU (1) and MEMORY
## (3Gi) are those of each Pod; sets up Docker and the node image where they are missing
e2e-job-kind: build docker
	$(GO) run ./hack/nodeimages v1.35.4
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" hack/indexedjob/e2e.sh "$(OUT)"

## migrate-install: the migrator installed as KEP-25 has it, in Kubernetes v1.35.4 while
## it is upgraded to v1.36.3, on local processes; TOPOLOGY=clusters/kind-3-kubernetes-migrator.yaml
## on kind, with a kubelet; wants `make binaries`, or `make docker` and `make node-images`
migrate-install: build
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" EVENKEEL_TOPOLOGY="$(TOPOLOGY)" $(GO) test ./suites/installed -count 1 -v -timeout 60m

## mutation: plant every defect of the reference and demand that it is found;
## SAMPLE=N plays N of them, chosen by the commit, PARALLEL=N as many at a time,
## ONLY="SVM-*" some, AGAIN=1 judges bundles that were kept, UNPROVEN=1 those that the checks of now have not found yet;
## RESULTS=reports publishes
mutation: build
	$(GO) run ./hack/mutation -out "$(OUT)/mutation" -results "$(RESULTS)" -only "$(ONLY)" -unproven=$(if $(UNPROVEN),true,false) -again=$(if $(AGAIN),true,false) -tries $(or $(TRIES),1) -parallel $(or $(PARALLEL),1) -sample $(or $(SAMPLE),0) -commit "$$(git rev-parse HEAD 2>/dev/null)"

## detection: plant defects of the reference and measure what generated schedules find of them;
## ONLY="SVM-*" plants some, SCHEDULES=N plays so many for each, TOGETHER=N plants defects of
## different KEPs together, HOW=guided or random explores one way only, RESULTS=reports publishes
detection: build
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" $(GO) run ./hack/detection -out "$(OUT)/detection" -only "$(or $(ONLY),*)" -schedules $(or $(SCHEDULES),20) -together $(or $(TOGETHER),1) -how $(or $(HOW),both) -parallel $(or $(PARALLEL),1) -report "$(if $(RESULTS),$(RESULTS)/explore.md)"

## bench: time to a ready cluster, and events a second through all checks
bench: build
	hack/bench.sh

## bench-kind: time to ready members of Kubernetes, kind beside local processes;
## wants `make binaries`, `make docker` and `make node-images`
bench-kind:
	$(GO) test -run '^$$' -bench Ready -benchtime 3x -timeout 30m ./pkg/cluster/providers

## bench-migration: the reference's migrator beside that of Kubernetes, with N (10000)
## objects and a tenth of them, or with OBJECTS="1000 10000", into
## reports/benchmarks/migration.md; RATE (400) is how many objects a second each may
## write, WITHIN (1h) how long a migration may take, KUBERNETES_WITHIN (the same) one of
## Kubernetes, WATCH_CACHE=false has API servers keep no objects in memory, KUBERNETES
## (v1.36.3) is the release, REPORT the file
bench-migration: KUBERNETES ?= v1.36.3
bench-migration: build
	$(GO) run ./hack/binaries $(KUBERNETES)
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" $(GO) run ./hack/benchmigration -objects "$(or $(OBJECTS),$$(( $(or $(N),10000) / 10 )) $(or $(N),10000))" -rate $(or $(RATE),400) -within $(or $(WITHIN),1h) -kubernetes-within $(or $(KUBERNETES_WITHIN),0) -watch-cache=$(or $(WATCH_CACHE),true) -kubernetes $(KUBERNETES) -report "$(or $(REPORT),reports/benchmarks/migration.md)"

## bench-discovery: aggregated discovery of the reference beside kube-apiserver, with
## 0, 300 and 3000 CRDs, into reports/benchmarks/discovery.md; CRDS="0 300", DURATION
## and KUBERNETES change that
bench-discovery: KUBERNETES ?= v1.36.3
bench-discovery: build
	$(GO) run ./hack/binaries $(KUBERNETES)
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" $(GO) run ./hack/benchdiscovery -crds "$(or $(CRDS),0 300 3000)" -duration $(or $(DURATION),10s) -kubernetes $(KUBERNETES) -report "$(or $(REPORT),reports/benchmarks/discovery.md)"

## bench-election: leader election of the reference beside Kubernetes, with and without
## a coordinator, into reports/benchmarks/election.md: N (50) times with instances of the
## libraries, REAL (10) times with the components themselves; REST (5m) is how long writes
## at rest are counted, KUBERNETES (v1.36.3) the release, REPORT the file
bench-election: KUBERNETES ?= v1.36.3
bench-election: build
	$(GO) run ./hack/binaries $(KUBERNETES)
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" $(GO) run ./hack/benchelection -n $(or $(N),50) -real $(or $(REAL),10) -rest $(or $(REST),5m) -kubernetes $(KUBERNETES) -report "$(or $(REPORT),reports/benchmarks/election.md)"

## bench-stops: leading controller managers that are stopped in order, N (50) times, with and
## without release of the Lease on exit (KEP-5366), of the reference and Kubernetes, into
## reports/benchmarks/stops.md; PLANES="v1.36.3 v1.36.3+release" measures only those and keeps
## the others, +coordinated behind a name has a coordinator elect, REPORT is the file
bench-stops: build
	$(GO) run ./hack/binaries v1.36.3 v1.37.1
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" $(GO) run ./hack/benchelection -stops $(or $(N),50) $(if $(PLANES),-planes "$(PLANES)") -report "$(or $(REPORT),reports/benchmarks/stops.md)"

## skew: how likely a leader is newer than an API server while members are replaced one
## by one, enumerated; RUNS=N also plays each case N times; into reports/skew.md
skew: build
	EVENKEEL_REFPLANE="$(CURDIR)/bin/refplane" $(GO) run ./hack/skew -out "$(OUT)/skew" -runs $(or $(RUNS),0) -parallel $(or $(PARALLEL),1) -seed $(or $(SEED),1)

## soak: every scenario, or SCENARIOS="a b", RUNS times (10) on the local provider
## with the reference; all of them must be green. ADD=1 counts the runs in
## reports/results that the same checks have judged, and plays what is missing. KEEP=1
## keeps all bundles below _out/survey, and AGAIN=1 judges those anew instead of playing
soak: build
	$(GO) run ./hack/survey -title "the reference, local" -out "$(OUT)/survey" -runs $(or $(RUNS),10) -add=$(if $(ADD),true,false) -keep=$(if $(KEEP),true,false) -again=$(if $(AGAIN),true,false) -parallel $(or $(PARALLEL),1) -scenarios "$(SCENARIOS)"

## survey: the same on another target, into reports/results and results.md; for instance
## TARGET=local-kubernetes-v1.36.3 TITLE="Kubernetes v1.36.3 → v1.37.1, local"
## TOPOLOGY=clusters/local-3-kubernetes.yaml RELEASE=v1.36.3; a target that has results
## needs only its name
survey: build
	$(GO) run ./hack/survey -target "$(TARGET)" -title "$(TITLE)" -topology "$(TOPOLOGY)" -release "$(RELEASE)" -out "$(OUT)/survey" -runs $(or $(RUNS),1) -add=$(if $(ADD),true,false) -keep=$(if $(KEEP),true,false) -again=$(if $(AGAIN),true,false) -parallel $(or $(PARALLEL),1) -scenarios "$(SCENARIOS)"

## reports: write the reports of all published bundles anew, from the same histories, and
## results.md from them, when requirements, checks or the form of reports have changed on
## purpose; those that are signed are their signers' to write
reports: build
	hack/reports.sh

## site: a static site of reports/, or of the folder REPORTS, in _out/site; it needs no network
site: build
	bin/evenkeel site "$(or $(REPORTS),reports)" --out "$(OUT)/site"

## picture: the picture of README.md, from the page of a published bundle; wants a
## Chromium (hack/chromium.sh)
picture: build
	$(GO) run ./hack/picture

## fuzz: ten million executions of each fuzz test (N), or of those that ONLY names; what
## they find stays beside the tests
fuzz:
	N="$(N)" ONLY="$(ONLY)" hack/fuzz.sh

## mutate-bundles: N (10000) mutated bundles, from SEED, each given to every command that
## reads one: none may panic, hang or pass what did not pass before; `make test` tries 300
mutate-bundles:
	EVENKEEL_MUTANTS=$(or $(N),10000) EVENKEEL_MUTANTS_SEED=$(SEED) $(GO) test ./pkg/command -run '^TestMutatedBundles$$' -count 1 -v -timeout 6h

## lint: formatting, vet, the linters of .golangci.yml, which are built from hack/tools, the
## border between harness and reference, and the words that no sentence uses
lint:
	hack/lint.sh

## generate: deep copies, OpenAPI definitions, the schemas of reports and the reference of steps
generate:
	hack/generate/generate.sh
	$(GO) test ./pkg/report ./pkg/conformance -run '^TestSchemaIsThatOfTheTypes$$' -count 1 -update

clean:
	rm -rf bin "$(OUT)"
