import assert from 'node:assert/strict';
import { it } from 'node:test';
import { imagesIn } from './rendered-images.ts';

const digest = `sha256:${'a'.repeat(64)}`;

it('the images of a chart are those of its pods, wherever their templates are, and what else is called one', () => {
  const manifests = `---
# Source: a/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      volumes:
        - name: model
          image: {reference: registry.example/model:1}
      initContainers: [{name: i, image: busybox}]
      containers:
        - name: web
          image: "registry.example/web:1.2@${digest}"
        - {name: same, image: docker.io/library/busybox:latest}
---
apiVersion: batch/v1
kind: CronJob
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: 'quay.io/a/b:2'}]}}}}}
---
apiVersion: v1
kind: ConfigMap
data: {image: "no image: at all", picture: "image: x/y:1"}
---
apiVersion: monitoring.example/v1
kind: Server
spec: {image: quay.io/server:3, sidecar: {image: logo}}
---
kind: CustomResourceDefinition
spec: {names: {image: quay.io/never:1}}
`;
  assert.deepEqual(imagesIn(manifests), {
    ofPods: [
      'docker.io/library/busybox:latest',
      'quay.io/a/b:2',
      'registry.example/model:1',
      `registry.example/web@${digest}`,
    ],
    others: ['quay.io/server:3'],
  });
  assert.deepEqual(imagesIn(''), { ofPods: [], others: [] });
});
