// Package migrator carries out what package migration decides. One Migrator
// works at a time, in the process that leads. It has a loop, which remembers in which
// versions objects may be stored, starts migrations that are due, tells the others
// why they wait or fail, and gives them their outcome; and at most one worker, which
// goes through the objects of one resource and comes to a verdict.
//
// KEP-25 makes the controller a Deployment and each worker a Job. Where something runs
// workloads it is like that (jobCrew and Work): whatever becomes of the Job, its worker
// goes on from the checkpoint, and only its verdict counts. Where nothing does, the
// controller manager plays both parts (inProcess): a worker that was stopped by a crash
// or by a change of the leader goes on from its checkpoint in the next one. Loop and
// worker are the same code in both.
package migrator
