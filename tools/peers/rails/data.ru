# Rows and pages from PostgreSQL or SQLite through Active Record, in production's settings, under puma.
# Debian: apt-get install puma ruby-railties ruby-activerecord ruby-actionview ruby-pg ruby-sqlite3
#
# Run: DATA_ADDRESS=ADDRESS puma -e production -t 10:10 -b tcp://127.0.0.1:PORT data.ru, with postgres:///NAME?host=FOLDER&pool=10
# or sqlite3:FILE?pool=10.
ENV["RAILS_ENV"] = "production"
# With slashes, Rails would take the host from between them, where none is, and not from the parameters.
ENV["DATABASE_URL"] = ENV.fetch("DATA_ADDRESS").sub("postgres:///", "postgres:")
require "action_controller/railtie"
require "active_record/railtie"

class Peer < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.secret_key_base = "x" * 64
  config.logger = Logger.new($stderr)
  config.log_level = :error
  config.public_file_server.enabled = false
  config.cache_classes = true
  config.eager_load = true
  # Middleware that these responses do not need, as TechEmpower's application leaves it out. Without Executor no query is cached,
  # and a thread keeps its connection.
  [
    ActionDispatch::ActionableExceptions,
    ActionDispatch::Callbacks,
    ActionDispatch::ContentSecurityPolicy::Middleware,
    ActionDispatch::Cookies,
    ActionDispatch::DebugExceptions,
    ActionDispatch::Executor,
    ActionDispatch::Flash,
    ActionDispatch::PermissionsPolicy::Middleware,
    ActionDispatch::RemoteIp,
    ActionDispatch::RequestId,
    ActionDispatch::Session::CookieStore,
    ActionDispatch::ShowExceptions,
    Rack::ConditionalGet,
    Rack::ETag,
    Rack::Head,
    Rack::MethodOverride,
    Rack::Runtime,
    Rack::Sendfile,
    Rack::TempfileReaper,
    Rails::Rack::Logger,
  ].each { |middleware| config.middleware.delete middleware }
  routes.append do
    get "list", to: "data#list"
    get "db", to: "data#db"
    get "queries", to: "data#queries"
    get "fortunes", to: "data#fortunes"
    get "updates", to: "data#updates"
  end
end

# No commit waits for the disk, as with the other peers. Rails 7.1 and later have this by default.
module NormalSynchronous
  private

  def configure_connection
    super
    execute("PRAGMA synchronous = NORMAL", "SCHEMA")
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend NormalSynchronous }

class Article < ActiveRecord::Base
  self.table_name = "article"
end

class Fortune < ActiveRecord::Base
  self.table_name = "fortune"
end

class World < ActiveRecord::Base
  IDS = (1..10_000).to_a.freeze
  self.table_name = "world"

  def self.random_number = rand(1..10_000)

  # No row twice: PostgreSQL refuses to upsert one twice in a statement.
  def self.random(count) = IDS.sample(count).map { |id| find(id) }

  def as_json(*) = { id: id, randomNumber: randomnumber }
end

class DataController < ActionController::Base
  PER_PAGE = 20
  ROWS = 20

  prepend_view_path File.join(__dir__, "views")

  def list
    @articles = Article.order(published: :desc, id: :desc).limit(PER_PAGE)
    @count = Article.count
    @pages = (@count + PER_PAGE - 1) / PER_PAGE
  end

  def db = render(json: World.find(World.random_number))

  def queries = render(json: World.random(ROWS))

  def fortunes
    added = Fortune.new(id: 0, message: "Added while the request was handled.")
    @fortunes = [*Fortune.all, added].sort_by(&:message)
  end

  # The rows are written in one order, so that no two requests wait for each other.
  def updates
    worlds = World.random(ROWS).sort_by(&:id)
    worlds.each { |world| world.randomnumber = World.random_number }
    World.upsert_all(worlds.map(&:attributes), returning: false)
    render json: worlds
  end
end

run Peer.initialize!
