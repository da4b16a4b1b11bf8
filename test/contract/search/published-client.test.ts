/** The published search client against the data plane, with a projection that follows immediately. */
import { describeSearchClient } from '../../support/search-client-program.js';
import { SEARCH_READ_TOKEN, SEARCH_TOKEN, SearchEndpointHarness } from '../../support/search-endpoint.js';
import { FollowedGateway } from '../../support/search-follower.js';

describe('search data plane: published client', () => {
  let face: SearchEndpointHarness | undefined;
  after(() => face?.stop());

  describeSearchClient(async () => {
    const gateway = new FollowedGateway();
    face ??= await new SearchEndpointHarness({ gateway, queries: gateway }).start();
    return { url: face.url, token: SEARCH_TOKEN, readOnlyToken: SEARCH_READ_TOKEN };
  });
});
