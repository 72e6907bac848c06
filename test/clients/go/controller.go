package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
)

const leaseName = "doubler"
const workers = 4

// A doubler writes twice the number that a ConfigMap holds beside it.
type doubler struct {
	client kubernetes.Interface
	lister corelisters.ConfigMapLister
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// Of all who run this with one lease, one works at a time. Who is told to stop gives the lease back.
func runController(ctx context.Context, config *rest.Config, namespace, identity string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: leaseName},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
	failed := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   2 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				say(map[string]string{"event": "leading", "identity": identity})
				failed <- work(ctx, client, namespace)
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				say(map[string]string{"event": "new-leader", "identity": leader})
			},
		},
	})
	if err != nil {
		return err
	}
	say(map[string]string{"event": "waiting", "identity": identity})
	elector.Run(ctx)
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func work(ctx context.Context, client kubernetes.Interface, namespace string) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "doubler=on" }))
	informer := factory.Core().V1().ConfigMaps()
	d := &doubler{
		client: client,
		lister: informer.Lister(),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
			d.queue.Add(key)
		}
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
		DeleteFunc: enqueue,
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return ctx.Err()
		}
	}
	say(map[string]string{"event": "synced"})

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for d.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	d.queue.ShutDown()
	running.Wait()
	factory.Shutdown()
	return nil
}

func (d *doubler) next(ctx context.Context) bool {
	key, isOver := d.queue.Get()
	if isOver {
		return false
	}
	defer d.queue.Done(key)
	if err := d.reconcile(ctx, key); err != nil {
		say(map[string]string{"event": "retry", "name": key.Name, "error": err.Error()})
		d.queue.AddRateLimited(key)
		return true
	}
	d.queue.Forget(key)
	return true
}

func (d *doubler) reconcile(ctx context.Context, key cache.ObjectName) error {
	found, err := d.lister.ConfigMaps(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		say(map[string]string{"event": "gone", "name": key.Name})
		return nil
	}
	if err != nil {
		return err
	}
	wanted := twice(found)
	if found.Data["doubled"] == wanted {
		return nil
	}
	changed := found.DeepCopy()
	changed.Data["doubled"] = wanted
	if _, err := d.client.CoreV1().ConfigMaps(key.Namespace).Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	say(map[string]string{"event": "doubled", "name": key.Name, "to": wanted})
	return nil
}

func twice(source *corev1.ConfigMap) string {
	number, err := strconv.Atoi(source.Data["number"])
	if err != nil {
		return "not a number"
	}
	return strconv.Itoa(2 * number)
}
