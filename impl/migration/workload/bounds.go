package workload

const (
	// WorkerRetries is how often a worker's Pod may fail before its migration does.
	// Between two attempts the Job waits 10 seconds at first and 10 minutes at most, so
	// this is about ten days of nothing but crashes. A Pod that is evicted does not count.
	WorkerRetries = 1500
	// unprivileged is the user that Pods run as.
	unprivileged = 65532
	// apiServerPort is where kubeadm has API servers answer.
	apiServerPort = "6443"
	// cpuRequest and memoryRequest are what a Pod is scheduled by. A worker has a
	// chunk of objects in memory at a time.
	cpuRequest    = "10m"
	memoryRequest = "64Mi"
)
