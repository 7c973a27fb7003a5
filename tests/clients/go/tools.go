package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

// runTools exercises what only client-go has: leader election, apply configurations, metadata informers, HTTP/2, retries.
func runTools(config *rest.Config, namespace string, report func(string, any)) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	checks := []struct {
		name string
		run  func() (any, error)
	}{
		{"http/2", func() (any, error) { return protocol(config) }},
		{"leader election", func() (any, error) { return elect(client, namespace) }},
		{"apply configurations", func() (any, error) { return applyTyped(client, namespace) }},
		{"metadata informer", func() (any, error) { return inform(config, client, namespace) }},
		{"retry on conflict", func() (any, error) { return retried(client, namespace) }},
		{"scale", func() (any, error) { return scaled(client, namespace) }},
		{"token", func() (any, error) { return token(config, client, namespace) }},
	}
	for _, check := range checks {
		result, err := check.run()
		if err != nil {
			result = map[string]any{"failed": err.Error()}
		}
		report(check.name, result)
	}
	return nil
}

func protocol(config *rest.Config) (any, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: transport}).Get(config.Host + "/version")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return map[string]any{"protocol": response.Proto, "tls13": response.TLS.Version == tls.VersionTLS13}, nil
}

// elect lets two candidates compete: the first leads, gives up, the second follows.
func elect(client kubernetes.Interface, namespace string) (any, error) {
	order := make(chan string, 4)
	candidate := func(ctx context.Context, name string) error {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "elected", Namespace: namespace},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { order <- name },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		go elector.Run(ctx)
		return nil
	}
	first, stopFirst := context.WithCancel(context.Background())
	second, stopSecond := context.WithCancel(context.Background())
	defer stopFirst()
	defer stopSecond()
	if err := candidate(first, "one"); err != nil {
		return nil, err
	}
	leaders := []string{next(order)}
	if err := candidate(second, "two"); err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	stopFirst()
	leaders = append(leaders, next(order))
	return map[string]any{"leaders": leaders}, nil
}

func next(order <-chan string) string {
	select {
	case name := <-order:
		return name
	case <-time.After(patience):
		return "nobody"
	}
}

func applyTyped(client kubernetes.Interface, namespace string) (any, error) {
	ctx := context.Background()
	labels := map[string]string{"app": "typed"}
	configuration := appsapply.Deployment("typed", namespace).WithSpec(appsapply.DeploymentSpec().
		WithReplicas(2).
		WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).
			WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().WithName("c").WithImage("i:1")))))
	applied, err := client.AppsV1().Deployments(namespace).Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "typed"})
	if err != nil {
		return nil, err
	}
	extracted, err := appsapply.ExtractDeployment(applied, "typed")
	if err != nil {
		return nil, err
	}
	extracted.Spec.WithReplicas(3)
	again, err := client.AppsV1().Deployments(namespace).Apply(ctx, extracted, metav1.ApplyOptions{FieldManager: "typed"})
	if err != nil {
		return nil, err
	}
	return map[string]any{"replicas": *again.Spec.Replicas, "image": *extracted.Spec.Template.Spec.Containers[0].Image, "generation": again.Generation}, nil
}

func inform(config *rest.Config, client kubernetes.Interface, namespace string) (any, error) {
	ctx := context.Background()
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = "informed" }
	factory := metadatainformer.NewFilteredSharedInformerFactory(metadataClient, time.Hour, namespace, tweak)
	names, err := startInformer(factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Informer())
	if err != nil {
		return nil, err
	}
	for index := range 3 {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("informed-%d", index), Labels: map[string]string{"informed": "yes"}}}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	await(func() bool { return len(names()) == 3 })
	if err := client.CoreV1().ConfigMaps(namespace).Delete(ctx, "informed-1", metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	await(func() bool { return len(names()) == 2 })
	return map[string]any{"names": names()}, nil
}

// retried lets eight writers count in one object; every increment must survive.
func retried(client kubernetes.Interface, namespace string) (any, error) {
	ctx := context.Background()
	maps := client.CoreV1().ConfigMaps(namespace)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}, Data: map[string]string{"n": ""}}
	if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	const writers = 8
	backoff := retry.DefaultRetry
	backoff.Steps = 100
	failures := make(chan error, writers)
	for range writers {
		go func() {
			failures <- retry.RetryOnConflict(backoff, func() error {
				current, err := maps.Get(ctx, "counter", metav1.GetOptions{})
				if err != nil {
					return err
				}
				current.Data["n"] += "x"
				_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	for range writers {
		if err := <-failures; err != nil {
			return nil, err
		}
	}
	final, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return map[string]any{"count": len(final.Data["n"])}, nil
}

func scaled(client kubernetes.Interface, namespace string) (any, error) {
	ctx := context.Background()
	scale, err := client.AppsV1().Deployments(namespace).GetScale(ctx, "typed", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	scale.Spec.Replicas = 7
	updated, err := client.AppsV1().Deployments(namespace).UpdateScale(ctx, "typed", scale, metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	return map[string]any{"replicas": updated.Spec.Replicas, "selector": updated.Status.Selector}, nil
}

// token asks for a service account's token and shows what it may not do.
func token(config *rest.Config, client kubernetes.Interface, namespace string) (any, error) {
	ctx := context.Background()
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	review, err := requestToken(ctx, client, namespace)
	if err != nil {
		return nil, err
	}
	limited := rest.AnonymousClientConfig(config)
	limited.BearerToken = review
	robot, err := kubernetes.NewForConfig(limited)
	if err != nil {
		return nil, err
	}
	_, err = robot.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	return map[string]any{"refusal": reason(err)}, nil
}
