/// The files of `config/demo`, carried in the binary so that the demo runs from any folder. A test compares them.
enum DemoFiles {
  static let all = [
    (name: "content.proto", text: contentProto), (name: "comment.proto", text: commentProto),
    (name: "turnout.yaml", text: configuration),
  ]

  static let contentProto = #"""
    // What a small video app shows: tags, episodes, rankings, profiles.
    syntax = "proto3";

    package pivot.content.v1;

    import "google/api/annotations.proto";
    import "google/protobuf/duration.proto";
    import "google/protobuf/field_mask.proto";
    import "google/protobuf/timestamp.proto";

    service ContentService {
      // The tags on the front page.
      rpc ListFeaturedTags(ListFeaturedTagsRequest) returns (ListFeaturedTagsResponse) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/tags:featured"};
      }

      // Episodes whose title, series or tags contain a text.
      rpc SearchEpisodes(SearchEpisodesRequest) returns (SearchEpisodesResponse) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/episodes:search"};
      }

      rpc GetEpisode(GetEpisodeRequest) returns (Episode) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/episodes/{id}"};
      }

      // The most watched episodes: type is "daily" or "weekly".
      rpc GetRanking(GetRankingRequest) returns (Ranking) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/ranking/{type}"};
      }

      // Changes the fields of a profile that the mask names; a PATCH names those that its body holds.
      rpc UpdateProfile(UpdateProfileRequest) returns (Profile) {
        option (google.api.http) = {
          patch: "/v1/profiles/{profile.id}"
          body: "profile"
        };
      }
    }

    message Tag {
      string name = 1;
      int32 episode_count = 2;
    }

    message Episode {
      string id = 1;
      string title = 2;
      string series = 3;
      repeated string tags = 4;
      int64 views = 5;
      google.protobuf.Timestamp published_at = 6;
      google.protobuf.Duration length = 7;
    }

    message Profile {
      string id = 1;
      string display_name = 2;
      string bio = 3;
      repeated string favorite_tags = 4;
    }

    message ListFeaturedTagsRequest {}

    message ListFeaturedTagsResponse {
      repeated Tag tags = 1;
    }

    message SearchEpisodesRequest {
      string query = 1;
      // 1 to 50 (Default: 10).
      int32 page_size = 2;
      string page_token = 3;
    }

    message SearchEpisodesResponse {
      repeated Episode episodes = 1;
      string next_page_token = 2;
    }

    message GetEpisodeRequest {
      string id = 1;
    }

    message GetRankingRequest {
      string type = 1;
      // 1 to 50 (Default: 3).
      int32 limit = 2;
    }

    message Ranking {
      message Entry {
        int32 rank = 1;
        Episode episode = 2;
      }

      string type = 1;
      repeated Entry entries = 2;
    }

    message UpdateProfileRequest {
      Profile profile = 1;
      google.protobuf.FieldMask update_mask = 2;
    }

    """#

  static let commentProto = #"""
    // What people say about an episode.
    syntax = "proto3";

    package pivot.content.v1;

    import "google/api/annotations.proto";
    import "google/protobuf/timestamp.proto";

    service CommentService {
      rpc CreateComment(CreateCommentRequest) returns (Comment) {
        option (google.api.http) = {
          post: "/v1/episodes/{episode_id}/comments"
          body: "comment"
        };
      }

      // Oldest first.
      rpc ListComments(ListCommentsRequest) returns (ListCommentsResponse) {
        option idempotency_level = NO_SIDE_EFFECTS;
        option (google.api.http) = {get: "/v1/episodes/{episode_id}/comments"};
      }
    }

    message Comment {
      string id = 1;
      string episode_id = 2;
      string author = 3;
      string text = 4;
      google.protobuf.Timestamp created_at = 5;
    }

    message CreateCommentRequest {
      string episode_id = 1;
      Comment comment = 2;
    }

    message ListCommentsRequest {
      string episode_id = 1;
    }

    message ListCommentsResponse {
      repeated Comment comments = 1;
    }

    """#

  static let configuration = #"""
    # The gateway of `turnout demo`: a small video app on its way from REST to Connect.
    listeners:
      - address: 127.0.0.1:8080
    admin: { address: 127.0.0.1:9901 }

    schema:
      - protos: [content.proto, comment.proto]
        import_paths: [.]

    upstreams:
      legacy: { protocol: rest, endpoints: ["http://127.0.0.1:8081"] }
      content: { protocol: connect, codec: proto, endpoints: ["http://127.0.0.1:8082"] }

    services:
      pivot.content.v1.ContentService:
        rest: legacy
        rpc: content
        stage: rest                    # not moved yet: SearchEpisodes, GetEpisode
        json: { int64: number }        # as the legacy service writes the views of an episode
        canary: { sticky_by: "header:x-user-id" }
        guard: { min_requests: 20, max_error_rate: 5% }
        methods:
          ListFeaturedTags: { stage: rpc }
          GetRanking: { stage: rpc }
          UpdateProfile: { stage: rpc }
      pivot.content.v1.CommentService:
        rest: legacy
        rpc: content
        stage: rpc
        methods:
          CreateComment: { success_status: 201 }
          ListComments: { stage: rest }

    interceptors:
      - access_log: { format: text }

    """#
}
