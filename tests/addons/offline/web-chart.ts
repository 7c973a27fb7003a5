import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../program.ts';

export interface WebChart {
  readonly name: string;
  readonly image: string;
  readonly policy: 'Always' | 'IfNotPresent';
}

const version = '1.0.0';

const template = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: web
          image: {{ .Values.image }}
          imagePullPolicy: {{ .Values.policy }}
          command: [/bin/httpd, -f, -p, "8080", -h, /www]
          readinessProbe: {httpGet: {path: /index.html, port: 8080}, periodSeconds: 1}
`;

/** A chart of one pod that serves a page; put as NAME-1.0.0.tgz into the directory. */
export async function packWebChart(helm: string, directory: string, chart: WebChart): Promise<string> {
  const source = await mkdtemp(join(tmpdir(), 'sheaf-web-chart-'));
  try {
    const { name, image, policy } = chart;
    await mkdir(join(source, 'templates'));
    await mkdir(directory, { recursive: true });
    await writeFile(join(source, 'Chart.yaml'), JSON.stringify({ apiVersion: 'v2', name, version }));
    await writeFile(join(source, 'values.yaml'), JSON.stringify({ image, policy }));
    await writeFile(join(source, 'templates', 'web.yaml'), template);
    const { code, err } = await runProgram(helm, ['package', source, '--destination', directory]);
    if (code !== 0) throw new Error(`helm package: ${err}`);
    return join(directory, `${name}-${version}.tgz`);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}
