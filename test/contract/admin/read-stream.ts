/** The reader's side of a stream of server-sent events. */
import http from 'node:http';

export interface SentEvent {
  readonly name: string;
  readonly data: unknown;
}

/** A stream as its reader has it so far. */
export class ReadStream {
  text = '';
  isEnded = false;

  private constructor(
    private readonly request: http.ClientRequest,
    readonly response: http.IncomingMessage,
  ) {
    response.setEncoding('utf8').on('data', (piece: string) => {
      this.text += piece;
    });
    response.on('close', () => {
      this.isEnded = true;
    });
    response.on('error', () => {});
  }

  /** Resolves when the answer has begun, with any status. */
  static open(url: string, authorization: string): Promise<ReadStream> {
    return new Promise((resolve, reject) => {
      const request = http.get(url, { headers: { authorization }, agent: false }, (response) => {
        resolve(new ReadStream(request, response));
      });
      request.on('error', reject);
    });
  }

  get events(): SentEvent[] {
    return [...this.text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, name = '', data = '']) => ({
      name,
      data: JSON.parse(data) as unknown,
    }));
  }

  leave(): void {
    this.request.destroy();
  }
}
