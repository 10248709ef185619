// Package migrator carries out the decisions of package migration. One Migrator works at
// a time, in the process that leads. It has a loop and at most one worker. The loop
// records in which versions objects may be stored, starts migrations that are due, writes
// why other migrations wait or fail, and writes outcomes. The worker rewrites the objects
// of one resource and returns a verdict.
//
// By KEP-25 the controller is a Deployment and each worker a Job. It is so in clusters
// that run workloads (jobCrew and Work): if the Job fails, the next worker continues from
// the checkpoint, and only the worker's verdict counts. In other clusters the controller
// manager runs both (inProcess): after a crash or a change of the leader, the next leader
// continues from the checkpoint. Loop and worker are the same code in both.
package migrator
