import { connect, createServer } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { Exec, KubeConfig, PortForward, type V1Status } from '@kubernetes/client-node';

export interface JavascriptResults {
  readonly out: string;
  readonly errors: string;
  readonly status: V1Status;
  readonly page: string;
}

/** What the JavaScript client gets by its own protocols: a command with its outcome, and a page of port 8080. */
export async function runJavascriptStreams(kubeconfig: string, pod: string): Promise<JavascriptResults> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const [out, errors] = [new PassThrough(), new PassThrough()];
  const command = ['/bin/sh', '-c', 'read word; echo $word; echo err >&2; exit 9'];
  const status = await new Promise<V1Status>((resolve, reject) => {
    const input = Readable.from(['typed\n']);
    new Exec(config).exec('default', pod, 'main', command, out, errors, input, false, resolve).catch(reject);
  });
  return {
    status,
    out: String(out.read()),
    errors: String(errors.read()),
    page: await pageOf(new PortForward(config), pod),
  };
}

async function pageOf(forward: PortForward, pod: string): Promise<string> {
  const server = createServer((socket) => {
    void forward.portForward('default', pod, [8080], socket, null, socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const { port } = server.address() as { readonly port: number };
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /index.html HTTP/1.0\r\n\r\n');
    let page = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      page += chunk.toString();
      if (page.endsWith('it works\n')) break;
    }
    return page;
  } finally {
    server.close();
  }
}
