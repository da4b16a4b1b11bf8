/** The rarer calls as an application: their routes, and who may use them. Routes write through their call. */
import { queueRefusalOf } from '../error-map.js';
import { type Application, createApplication } from '../http/application.js';
import { RouteTable } from '../http/route-table.js';
import type { QueueCall } from './queue-call.js';
import type { QueueFace } from './queue-face.js';
import { QUEUE_FACE_ROUTES } from './routes/index.js';

const ROUTING = {
  allowsLastSlash: true,
  ignoresCase: true,
  answersHead: true,
};

export function createQueueApp(face: QueueFace): Application<QueueCall> {
  const table = new RouteTable(QUEUE_FACE_ROUTES, ROUTING);
  return createApplication<QueueCall>({
    name: 'queue',
    log: face.parts.log,
    run: async (call) => {
      const { route, path } = table.find(call.request.method as string, call.path);
      if (route.permission === 'change') call.mustBeAllowedToChange();
      else if (route.permission === 'publish') call.mustBeAllowedToPublish();
      await route.handle(call, { path, query: {}, body: {} });
    },
    refuse: (call, failure) => call.refuse(face.incidents.refused(failure, queueRefusalOf)),
  });
}
